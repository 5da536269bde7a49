import { PhiDetector } from './phi.mjs';
import { decode, encode } from './wire.mjs';

const [BEAT, ANSWER, DIGEST, GOSSIP, JOIN, GONE] = [0, 1, 2, 3, 4, 5];

/** Akka Cluster's defaults, with its split brain resolver's `keep-majority`. */
export const AKKA = {
  intervalMs: 1000,
  monitored: 5,
  threshold: 8,
  samplesMax: 1000,
  deviationMinMs: 100,
  acceptablePauseMs: 3000,
  firstEstimateMs: 1000,
  stableAfterMs,
};

/** The minimum that its documentation recommends for a cluster of `size`. */
export function stableAfterMs(size) {
  const steps = [
    [5, 7000],
    [10, 10_000],
    [20, 13_000],
    [50, 17_000],
    [100, 20_000],
  ];
  return steps.find(([most]) => size <= most)?.[1] ?? 30_000;
}

/**
 * Phi accrual detectors on a ring, what they find spread by gossip, and a resolver that downs the
 * unreachable once nothing has changed for a while. A member that was downed has to start again.
 */
export class Akka {
  #context;
  #parameters;
  #uid = 1;
  #isJoining = false;
  /** Uid and state of every member by id, merged by uid, then down before up. */
  #members = new Map();
  /** Who finds whom reachable, by `observer>subject`, merged by version. */
  #verdicts = new Map();
  #detectors = new Map();
  #changedAt = 0;
  #version = 0;

  constructor(context, parameters = AKKA) {
    this.#context = context;
    this.#parameters = parameters;
    for (const id of [context.id, ...context.peers]) this.#members.set(id, { uid: 1, isUp: true });
  }

  start() {
    const { timer, random } = this.#context;
    for (const work of [() => this.#beat(), () => this.#reap(), () => this.#gossip()]) {
      timer(() => this.#repeat(work), random() * this.#parameters.intervalMs);
    }
  }

  get roster() {
    return this.#isJoining ? [this.#context.id] : this.#up();
  }

  /** The oldest member, and nobody while that one is unreachable: a singleton waits for its removal. */
  get leader() {
    const first = this.#context.first(this.roster);
    return this.#isJoining || !this.#isReachable(first) ? null : first;
  }

  receive(from, bytes) {
    const [kind, uid, seen, ...rest] = decode(bytes);
    if (kind === JOIN) return this.#welcome(from, uid);
    if (kind === GONE) return seen === this.#uid && this.#restart();
    const known = this.#members.get(from);
    if (uid < known.uid || (uid === known.uid && !known.isUp)) return this.#send(from, GONE, uid);
    if (seen !== this.#uid) return;
    if (kind === BEAT) this.#send(from, ANSWER, uid);
    else if (kind === ANSWER) this.#detector(from).heard(this.#context.now());
    else if (kind === DIGEST) this.#compare(from, rest[0]);
    else if (kind === GOSSIP) this.#merge(rest);
  }

  #repeat(work) {
    this.#context.timer(() => this.#repeat(work), this.#parameters.intervalMs);
    work();
  }

  #beat() {
    if (this.#isJoining) {
      for (const peer of this.#context.peers) this.#send(peer, JOIN, 0);
      return;
    }
    for (const peer of this.#monitored()) {
      // Akka expects the first answer within an interval.
      const detector = this.#detector(peer);
      if (detector.lastAt === null) detector.heard(this.#context.now());
      this.#send(peer, BEAT, this.#members.get(peer).uid);
    }
  }

  /** Notes what the detectors say, and downs what has been unreachable for long enough. */
  #reap() {
    if (this.#isJoining) return;
    const now = this.#context.now();
    for (const peer of this.#monitored()) {
      const detector = this.#detector(peer);
      if (detector.lastAt === null) continue;
      const key = `${this.#context.id}>${peer}`;
      const was = this.#verdicts.get(key)?.isReachable ?? true;
      const isReachable = detector.isAvailable(now);
      if (isReachable === was) continue;
      this.#version += 1;
      this.#verdicts.set(key, { version: this.#version, isReachable });
      if (!isReachable) this.#context.note('unreachable', now - detector.lastAt);
      this.#changed();
    }
    this.#resolve(now);
  }

  #resolve(now) {
    const up = this.#up();
    const unreachable = up.filter((id) => !this.#isReachable(id));
    if (unreachable.length === 0) return;
    if (now - this.#changedAt < this.#parameters.stableAfterMs(up.length)) return;
    const reachable = up.filter((id) => this.#isReachable(id));
    const isTie = reachable.length === unreachable.length;
    const wins = isTie
      ? reachable.includes(this.#context.first(up))
      : reachable.length > unreachable.length;
    if (!wins) return this.#restart();
    // Akka leaves it to the leader among the reachable.
    if (this.#context.first(reachable) !== this.#context.id) return;
    for (const id of unreachable) this.#down(id, this.#members.get(id).uid);
    this.#changed();
  }

  #down(id, uid) {
    const member = this.#members.get(id);
    if (uid < member.uid || (uid === member.uid && !member.isUp)) return;
    const wasUp = member.isUp;
    this.#members.set(id, { uid, isUp: false });
    this.#forget(id);
    if (wasUp) this.#context.evicted(id);
  }

  #forget(id) {
    this.#detectors.delete(id);
    for (const key of this.#verdicts.keys()) {
      const [observer, subject] = key.split('>');
      if (observer === id || subject === id) this.#verdicts.delete(key);
    }
  }

  /** A process that was downed ends; its supervisor starts the next. */
  #restart() {
    this.#uid += 1;
    this.#isJoining = true;
    this.#verdicts.clear();
    this.#detectors.clear();
    this.#members.set(this.#context.id, { uid: this.#uid, isUp: true });
    this.#context.changed();
  }

  #welcome(from, uid) {
    const known = this.#members.get(from);
    if (this.#isJoining) return;
    if (uid > known.uid) {
      if (known.isUp) this.#down(from, known.uid);
      this.#members.set(from, { uid, isUp: true });
      this.#changed();
    }
    if (uid === this.#members.get(from).uid) this.#sendGossip(from);
  }

  #gossip() {
    if (this.#isJoining) return;
    const others = this.#up().filter((id) => id !== this.#context.id && this.#isReachable(id));
    const [partner] = this.#context.sample(others, 1);
    if (partner) this.#send(partner, DIGEST, this.#members.get(partner).uid, this.#digest());
  }

  #compare(from, digest) {
    if (digest !== this.#digest()) this.#sendGossip(from);
  }

  #sendGossip(to) {
    const members = [...this.#members].flatMap(([id, { uid, isUp }]) => [id, uid, isUp ? 1 : 0]);
    const verdicts = [...this.#verdicts].flatMap(([key, { version, isReachable }]) => [
      key,
      version,
      isReachable ? 1 : 0,
    ]);
    const { uid } = this.#members.get(to);
    this.#send(to, GOSSIP, uid, this.#digest(), this.#members.size, ...members, ...verdicts);
  }

  #merge([, count, ...flat]) {
    const before = this.#digest();
    for (let at = 0; at < 3 * count; at += 3) this.#mergeMember(...flat.slice(at, at + 3));
    for (let at = 3 * count; at < flat.length; at += 3) {
      const [key, version, reachable] = flat.slice(at, at + 3);
      this.#mergeVerdict(key, version, reachable === 1);
    }
    const wasJoining = this.#isJoining;
    this.#isJoining = false;
    if (wasJoining || before !== this.#digest()) this.#changed();
  }

  #mergeMember(id, uid, up) {
    const known = this.#members.get(id);
    if (id === this.#context.id) return;
    if (up === 0) return this.#down(id, uid);
    if (uid <= known.uid) return;
    if (known.isUp) this.#down(id, known.uid);
    this.#members.set(id, { uid, isUp: true });
  }

  #mergeVerdict(key, version, isReachable) {
    const [observer, subject] = key.split('>');
    if (observer === this.#context.id) return;
    if (!this.#members.get(observer).isUp || !this.#members.get(subject).isUp) return;
    if (version > (this.#verdicts.get(key)?.version ?? 0)) {
      this.#verdicts.set(key, { version, isReachable });
    }
  }

  /** Equal for equal views; 32 bits are enough to tell two apart. */
  #digest() {
    const members = [...this.#members].map(([id, { uid, isUp }]) => `${id}${uid}${isUp}`);
    const verdicts = [...this.#verdicts].map(([key, { version }]) => `${key}${version}`);
    let hash = 0;
    for (const text of [...members.sort(), ...verdicts.sort()]) {
      for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 31);
    }
    return hash >>> 0;
  }

  #changed() {
    this.#changedAt = this.#context.now();
    this.#context.changed();
  }

  #isReachable(id) {
    if (id === this.#context.id) return true;
    for (const [key, { isReachable }] of this.#verdicts) {
      if (!isReachable && key.endsWith(`>${id}`)) return false;
    }
    return true;
  }

  /** The next on the ring of all members. */
  #monitored() {
    const ring = this.#up().sort((one, two) => place(one) - place(two));
    const own = ring.indexOf(this.#context.id);
    const after = [...ring.slice(own + 1), ...ring.slice(0, own)];
    return after.slice(0, this.#parameters.monitored);
  }

  #up() {
    return [...this.#members].filter(([, { isUp }]) => isUp).map(([id]) => id);
  }

  #detector(id) {
    const known = this.#detectors.get(id);
    if (known) return known;
    const detector = new PhiDetector(this.#parameters);
    this.#detectors.set(id, detector);
    return detector;
  }

  /** Every message names both processes: what is meant for an earlier one is not taken. */
  #send(to, kind, seen, ...rest) {
    this.#context.send(to, encode([kind, this.#uid, seen, ...rest]));
  }
}

/** Where a member stands on the ring: anything that scatters them and is the same everywhere. */
function place(id) {
  let hash = 0;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash, 31) + id.charCodeAt(at);
  return Math.imul(hash, 0x9e3779b1) >>> 0;
}
