import { encode } from './codec.ts';
import type { Effect, LockEffect, MachineEvent } from './effect.ts';
import type { Message } from './message.ts';

/** Collects what the host is to do, in order. */
export class Outbox {
  #effects: Effect[] = [];

  send(peer: string, message: Message): void {
    this.sendBytes(peer, encode(message), message.type === 'channel' ? 'data' : 'control');
  }

  sendBytes(peer: string, bytes: Uint8Array, lane: 'control' | 'data'): void {
    this.#effects.push({ type: 'send', peer, lane, bytes });
  }

  emit(event: MachineEvent): void {
    this.#effects.push({ type: 'event', event });
  }

  store(ticket: number, bytes: Uint8Array): void {
    this.#effects.push({ type: 'store', ticket, bytes });
  }

  lock(effect: LockEffect): void {
    this.#effects.push(effect);
  }

  violation(peer: string, rule: string, detail: string): void {
    this.emit({ type: 'violation', peer, rule, detail });
  }

  drain(): Effect[] {
    const effects = this.#effects;
    if (effects.length > 0) this.#effects = [];
    return effects;
  }
}
