import type { Effect, MachineEvent } from '../../src/machine/effect.ts';
import type { Machine, Tiebreak } from '../../src/machine/machine.ts';
import type { Member } from '../../src/machine/member.ts';

/** A machine that does what a test says, so that the runtime around it is tested alone. */
export class ScriptedMachine {
  /** Names and arguments of the inputs, without `now`. */
  readonly inputs: unknown[][] = [];
  readonly members = Object.freeze([member('me', 'self'), member('other')]);
  readonly state = 'joined';
  readonly candidate = true;
  leader: Member | null = null;
  epoch = 0;
  isLeading = false;
  validForMs = 1000;
  deadline = Number.POSITIVE_INFINITY;
  readTiebreak: (() => Tiebreak | null) | null = null;
  /** What to do at an input, by its name. */
  readonly reactions: Record<string, (...input: unknown[]) => void> = {};
  #effects: Effect[] = [];

  /** The same object, as the type that the runtime wants. */
  get machine(): Machine {
    return this as unknown as Machine;
  }

  emit(...events: MachineEvent[]): void {
    for (const event of events) this.#effects.push({ type: 'event', event });
  }

  send(text: string, lane: 'control' | 'data' = 'control'): void {
    this.#effects.push({ type: 'send', peer: 'p1', lane, bytes: new TextEncoder().encode(text) });
  }

  startTerm(epoch: number): void {
    this.isLeading = true;
    this.epoch = epoch;
    this.leader = this.members[0] ?? null;
    this.emit({ type: 'termstart', epoch });
    this.emit({ type: 'change', leader: this.leader, epoch, previous: null, reason: 'elected' });
  }

  endTerm(reason: (MachineEvent & { type: 'termend' })['reason']): void {
    this.isLeading = false;
    const previous = this.leader;
    this.leader = null;
    this.emit({ type: 'termend', epoch: this.epoch, reason });
    this.emit({ type: 'change', leader: null, epoch: this.epoch, previous, reason: 'vacated' });
  }

  drain(): Effect[] {
    return this.#effects.splice(0);
  }

  nextDeadline(): number {
    return this.deadline;
  }

  leads(): boolean {
    return this.isLeading;
  }

  validUntil(now: number): number {
    return this.isLeading ? now + this.validForMs : 0;
  }

  setTiebreaker(read: (() => Tiebreak | null) | null): void {
    this.readTiebreak = read;
  }

  advance(now: number): void {
    this.#input('advance', now);
  }

  lifecycle(kind: string): void {
    this.#input('lifecycle', kind);
  }

  linkUp(peer: string): void {
    this.#input('linkUp', peer);
  }

  resign(): void {
    this.#input('resign');
  }

  transfer(id: string): boolean {
    this.#input('transfer', id);
    return true;
  }

  confirm(ticket: number): void {
    this.#input('confirm', ticket);
  }

  setCandidacy(isCandidate: boolean): void {
    this.#input('setCandidacy', isCandidate);
  }

  channelSend(channel: string, to: string | null, data: Uint8Array, epoch: number): boolean {
    this.#input('channelSend', channel, to, data, epoch);
    return to !== 'nobody';
  }

  #input(name: string, ...input: unknown[]): void {
    this.inputs.push([name, ...input]);
    this.reactions[name]?.(...input);
  }
}

export function member(id: string, link: Member['link'] = 'direct'): Member {
  return Object.freeze({
    id,
    instance: `${id}-1`,
    incarnation: 0,
    startedAt: 1,
    status: 'alive',
    link,
    visibility: 'visible',
  });
}
