import { Rumours } from './rumours.mjs';
import { remainingMs, swimRounds } from './suspicion-window.mjs';
import { decode, encode } from './wire.mjs';

const [PING, ACK, PING_REQUEST, NACK, GOSSIP, STATE] = [0, 1, 2, 3, 4, 5];
const [ALIVE, SUSPECT, DEAD] = [0, 1, 2];

/** The protocol of Das, Gupta and Motivala, 2002, with suspicion and round-robin probes. */
export const SWIM = {
  intervalMs: 1000,
  /** Above the longest round trip. */
  timeoutMs: 300,
  helpers: 3,
  /** `random`: the paper's first version, for which it gives the expected detection. */
  selection: 'round-robin',
  rumoursMax: 6,
  retransmits: swimRounds,
  /** One length, which nobody shortens. */
  window(size, intervalMs) {
    const lengthMs = swimRounds(size) * intervalMs;
    return { minMs: lengthMs, maxMs: lengthMs, expected: 0 };
  },
  /** Whoever is thought dead and still asks is told so; the paper leaves that to a new join. */
  tellsTheDead: true,
  awarenessMax: 0,
  gossip: null,
  syncMs: null,
};

/** SWIM, and what memberlist adds to it where the parameters say so. */
export class Swim {
  probes = 0;
  #context;
  #parameters;
  #members = new Map();
  #rumours = new Rumours();
  #incarnation = 0;
  #awareness = 0;
  #sequence = 0;
  #probe = null;
  #order = [];
  /** Probes on behalf of others: who asked, and under which number. */
  #errands = new Map();

  constructor(context, parameters = SWIM) {
    this.#context = context;
    this.#parameters = parameters;
    for (const id of context.peers) {
      this.#members.set(id, { id, incarnation: 0, state: ALIVE, suspicion: null, diedAt: 0 });
    }
  }

  start() {
    const { timer, random } = this.#context;
    const { intervalMs, gossip, syncMs, isSynchronous } = this.#parameters;
    timer(() => this.#round(), isSynchronous ? 0 : random() * intervalMs);
    if (gossip) timer(() => this.#gossip(), random() * gossip.intervalMs);
    if (syncMs) timer(() => this.#sync(), random() * syncMs);
  }

  get roster() {
    return [this.#context.id, ...this.#living().map(({ id }) => id)];
  }

  get leader() {
    return this.#context.first(this.roster);
  }

  get #size() {
    return this.#living().length + 1;
  }

  /** Grows while this node has reason to doubt itself (Lifeguard). */
  get #patience() {
    return this.#awareness + 1;
  }

  receive(from, bytes) {
    const [kind, sequence, ...rest] = decode(bytes);
    if (kind === PING) this.#answer(from, sequence, rest);
    else if (kind === ACK) this.#acknowledged(sequence, rest);
    else if (kind === PING_REQUEST) this.#runErrand(from, sequence, rest);
    else if (kind === NACK && this.#probe?.sequence === sequence) this.#probe.nacks += 1;
    else if (kind === GOSSIP) this.#learn(rest);
    else if (kind === STATE) this.#synchronized(from, sequence, rest);
  }

  #round() {
    this.#conclude();
    const { intervalMs, timeoutMs } = this.#parameters;
    this.#context.timer(() => this.#round(), intervalMs * this.#patience);
    const target = this.#nextTarget();
    this.#probe = null;
    if (!target) return;
    this.probes += 1;
    this.#sequence += 1;
    const probe = { sequence: this.#sequence, target, isAnswered: false, nacks: 0, asked: 0 };
    this.#probe = probe;
    // The suspect is told, so that it can refute.
    const told = target.state === SUSPECT ? [this.#rumour(SUSPECT, target)] : [];
    this.#send(target.id, [PING, probe.sequence], told);
    this.#context.timer(() => {
      if (!probe.isAnswered) this.#askHelpers(probe);
    }, timeoutMs * this.#patience);
  }

  #askHelpers(probe) {
    const { helpers, usesFallback } = this.#parameters;
    const candidates = this.#living().filter((member) => member !== probe.target);
    for (const { id } of this.#context.sample(candidates, helpers)) {
      probe.asked += 1;
      this.#send(id, [PING_REQUEST, probe.sequence, probe.target.id]);
    }
    // memberlist's stream connection, as one more round trip.
    if (usesFallback) this.#send(probe.target.id, [PING, probe.sequence]);
  }

  #conclude() {
    const probe = this.#probe;
    if (!probe) return;
    if (probe.isAnswered) return this.#doubt(-1);
    this.#doubt(probe.asked > 0 ? probe.asked - probe.nacks : 1);
    const { target } = probe;
    if (target.state === DEAD) return;
    this.#context.note('suspicion', target.id);
    this.#suspect(target, target.incarnation, this.#context.id);
  }

  #doubt(delta) {
    const raised = Math.max(0, this.#awareness + delta);
    this.#awareness = Math.min(this.#parameters.awarenessMax, raised);
  }

  #nextTarget() {
    if (this.#parameters.selection === 'random') {
      return this.#context.sample(this.#living(), 1)[0];
    }
    while (this.#order.length > 0) {
      const member = this.#order.pop();
      if (member.state !== DEAD) return member;
    }
    const living = this.#living();
    this.#order = this.#context.sample(living, living.length);
    return this.#order.pop();
  }

  #answer(from, sequence, rest) {
    this.#learn(rest);
    const known = this.#members.get(from);
    const isDead = this.#parameters.tellsTheDead && known.state === DEAD;
    this.#send(from, [ACK, sequence], isDead ? [this.#rumour(DEAD, known)] : []);
  }

  #acknowledged(sequence, rest) {
    this.#learn(rest);
    if (this.#probe?.sequence === sequence) this.#probe.isAnswered = true;
    const errand = this.#errands.get(sequence);
    if (!errand) return;
    this.#errands.delete(sequence);
    this.#send(errand.from, [ACK, errand.sequence]);
  }

  #runErrand(from, asked, [target, ...rest]) {
    this.#learn(rest);
    this.#sequence += 1;
    const sequence = this.#sequence;
    this.#errands.set(sequence, { from, sequence: asked });
    this.#send(target, [PING, sequence]);
    const { timeoutMs, intervalMs, awarenessMax } = this.#parameters;
    if (awarenessMax > 0) {
      this.#context.timer(() => {
        if (this.#errands.has(sequence)) this.#send(from, [NACK, asked], null);
      }, 0.8 * timeoutMs);
    }
    this.#context.timer(() => this.#errands.delete(sequence), intervalMs);
  }

  #learn(flat) {
    for (let at = 0; at + 3 < flat.length; at += 4) {
      const [kind, id, incarnation, from] = flat.slice(at, at + 4);
      this.#apply(kind, id, incarnation, from);
    }
  }

  #apply(kind, id, incarnation, from) {
    if (id === this.#context.id) {
      if (kind !== ALIVE && incarnation >= this.#incarnation) this.#refute(incarnation);
      return;
    }
    const member = this.#members.get(id);
    if (!member) return;
    if (kind === ALIVE) this.#alive(member, incarnation);
    else if (kind === SUSPECT) this.#suspect(member, incarnation, from);
    else this.#dead(member, incarnation);
  }

  #refute(incarnation) {
    this.#incarnation = incarnation + 1;
    this.#doubt(1);
    this.#rumours.add({
      kind: ALIVE,
      id: this.#context.id,
      incarnation: this.#incarnation,
      from: this.#context.id,
    });
  }

  #alive(member, incarnation) {
    if (incarnation <= member.incarnation) return;
    const wasDead = member.state === DEAD;
    this.#settle(member, ALIVE, incarnation);
    if (wasDead) this.#context.changed();
  }

  #suspect(member, incarnation, accuser) {
    if (incarnation < member.incarnation || member.state === DEAD) return;
    if (member.state === SUSPECT) return this.#confirm(member, accuser);
    this.#settle(member, SUSPECT, incarnation, accuser);
    const { window, intervalMs } = this.#parameters;
    const bounds = window(this.#size, intervalMs);
    const startedAt = this.#context.now();
    member.suspicion = { ...bounds, startedAt, accusers: new Set([accuser]), cancel: null };
    this.#schedule(member);
  }

  #confirm(member, accuser) {
    const { suspicion } = member;
    if (suspicion.accusers.has(accuser)) return;
    if (suspicion.accusers.size > suspicion.expected) return;
    suspicion.accusers.add(accuser);
    this.#rumours.add(this.#rumour(SUSPECT, member, accuser));
    this.#schedule(member);
  }

  #schedule(member) {
    const { suspicion } = member;
    const { startedAt, accusers, expected, minMs, maxMs } = suspicion;
    suspicion.cancel?.();
    const elapsedMs = this.#context.now() - startedAt;
    const leftMs = remainingMs(accusers.size - 1, expected, elapsedMs, minMs, maxMs);
    if (leftMs <= 0) this.#dead(member, member.incarnation);
    else
      suspicion.cancel = this.#context.timer(() => this.#dead(member, member.incarnation), leftMs);
  }

  #dead(member, incarnation) {
    if (incarnation < member.incarnation || member.state === DEAD) return;
    if (member.suspicion) {
      this.#context.note('window', this.#context.now() - member.suspicion.startedAt);
    }
    this.#settle(member, DEAD, incarnation);
    member.diedAt = this.#context.now();
    this.#context.evicted(member.id);
    this.#context.changed();
  }

  #settle(member, state, incarnation, from = this.#context.id) {
    member.suspicion?.cancel?.();
    member.suspicion = null;
    member.state = state;
    member.incarnation = incarnation;
    this.#rumours.add(this.#rumour(state, member, from));
  }

  #gossip() {
    const { intervalMs, fanOut, toTheDeadMs } = this.#parameters.gossip;
    this.#context.timer(() => this.#gossip(), intervalMs);
    if (this.#rumours.isEmpty) return;
    const since = this.#context.now() - toTheDeadMs;
    const candidates = [...this.#members.values()].filter(
      (member) => member.state !== DEAD || member.diedAt > since,
    );
    for (const { id } of this.#context.sample(candidates, fanOut)) this.#send(id, [GOSSIP, 0]);
  }

  /** Push and pull of the whole roster with one member. */
  #sync() {
    this.#context.timer(() => this.#sync(), this.#parameters.syncMs);
    const [partner] = this.#context.sample(this.#living(), 1);
    if (partner) this.#sendState(partner.id, 1);
  }

  #sendState(to, wantsAnswer) {
    const members = [...this.#members.values()];
    const others = members.flatMap(({ id, incarnation, state }) => [id, incarnation, state]);
    const own = [this.#context.id, this.#incarnation, ALIVE];
    this.#context.send(to, encode([STATE, wantsAnswer, ...own, ...others]));
  }

  #synchronized(from, wantsAnswer, rest) {
    for (let at = 0; at + 2 < rest.length; at += 3) {
      const [id, incarnation, state] = rest.slice(at, at + 3);
      // As memberlist does: the word of one is no reason to bury, only to suspect.
      this.#apply(state === DEAD ? SUSPECT : state, id, incarnation, from);
    }
    if (wantsAnswer) this.#sendState(from, 0);
  }

  #send(to, head, told = []) {
    const { rumoursMax, retransmits } = this.#parameters;
    const passed = told === null ? [] : this.#rumours.take(rumoursMax, retransmits(this.#size));
    const flat = [...(told ?? []), ...passed].flatMap((rumour) => [
      rumour.kind,
      rumour.id,
      rumour.incarnation,
      rumour.from,
    ]);
    this.#context.send(to, encode([...head, ...flat]));
  }

  #rumour(kind, { id, incarnation }, from = this.#context.id) {
    return { kind, id, incarnation, from };
  }

  #living() {
    return [...this.#members.values()].filter(({ state }) => state !== DEAD);
  }
}
