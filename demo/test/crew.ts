import { Checkpoint } from '../src/coordinator/checkpoint.ts';
import { Contributor } from '../src/coordinator/contributor.ts';
import { Coordinator } from '../src/coordinator/coordinator.ts';
import {
  decodeMessage,
  encodeMessage,
  type LeaderMessage,
  type MemberMessage,
  type Message,
} from '../src/coordinator/message.ts';
import type { Picture } from '../src/coordinator/picture.ts';

/** Twelve tiles, of which those at the right and lower edge are smaller. */
export const PICTURE: Picture = {
  revision: 1,
  width: 60,
  height: 44,
  tileSize: 16,
  iterations: 50,
};
export const TOTAL = 12;

/**
 * Members that exchange encoded messages over one queue, without clock, network or worker. Work is
 * done when the test says so: `work(id)` finishes the tile that a member computes.
 */
export class Crew {
  now = 0;
  readonly #members = new Map<string, Member>();
  #wire: (() => void)[] = [];
  #leader: { id: string; epoch: number; coordinator: Coordinator } | null = null;
  /** Members whose messages are lost, both ways. */
  readonly silent = new Set<string>();

  constructor(...ids: string[]) {
    for (const id of ids) this.join(id);
  }

  join(id: string): Member {
    const member = new Member((to, message) => this.#fromMember(id, to, message));
    this.#members.set(id, member);
    this.#leader?.coordinator.welcome(id, this.now);
    return member;
  }

  get(id: string): Member {
    const member = this.#members.get(id);
    if (!member) throw new Error(`no member ${id}`);
    return member;
  }

  get coordinator(): Coordinator {
    if (!this.#leader) throw new Error('nobody leads');
    return this.#leader.coordinator;
  }

  /** Gives the lead to a member; the former leader's coordinator hears nothing more. */
  lead(id: string, epoch: number, firstPicture: Picture = PICTURE): void {
    const { checkpoint } = this.get(id);
    const coordinator = new Coordinator({
      self: id,
      epoch,
      checkpoint,
      firstPicture,
      now: this.now,
      send: (to, message) => this.#fromLeader(id, epoch, to, message),
    });
    this.#leader = { id, epoch, coordinator };
    coordinator.start(this.#present(id), this.now);
    for (const member of this.#members.values()) member.contributor.leaderChanged(epoch, true);
    this.deliver();
  }

  /** The member is gone without a word; its leader is told so. */
  lose(id: string): void {
    this.silent.add(id);
    this.#members.delete(id);
    if (this.#leader?.id === id) this.#leader = null;
    this.#leader?.coordinator.lose(id, this.now);
    this.deliver();
  }

  /** Time passes; the coordinator is called as the page would. */
  pass(ms: number): void {
    for (let passed = 0; passed < ms; passed += 100) {
      this.now += 100;
      this.#leader?.coordinator.tick(this.now);
      this.deliver();
    }
  }

  deliver(): void {
    for (let send = this.#wire.shift(); send; send = this.#wire.shift()) send();
  }

  /** A member finishes the tile in work; false when it has none. */
  async work(id: string): Promise<boolean> {
    const finished = await this.get(id).finishTile();
    this.deliver();
    return finished;
  }

  /** Everybody works until nothing is left to do. */
  async workOff(): Promise<void> {
    for (let busy = true; busy; ) {
      busy = false;
      for (const id of [...this.#members.keys()]) busy = (await this.work(id)) || busy;
    }
    this.pass(2_000);
  }

  #present(except: string): string[] {
    return [...this.#members.keys()].filter((id) => id !== except);
  }

  #fromLeader(from: string, epoch: number, to: string | null, message: LeaderMessage): boolean {
    const receivers = to === null ? this.#present(from) : [to];
    for (const receiver of receivers) {
      this.#send(from, receiver, message, (arrived) =>
        this.#members.get(receiver)?.contributor.receive(from, arrived as LeaderMessage, epoch),
      );
    }
    return true;
  }

  #fromMember(from: string, to: string | null, message: MemberMessage): boolean {
    const receiver = to ?? this.#leader?.id;
    if (receiver === undefined) return false;
    this.#send(from, receiver, message, (arrived) => {
      if (this.#leader?.id !== receiver) return;
      this.#leader.coordinator.receive(from, arrived as MemberMessage, this.now);
    });
    return true;
  }

  #send(from: string, to: string, message: Message, arrive: (message: Message) => void): void {
    const bytes = encodeMessage(message);
    const deliver = () => {
      const arrived = decodeMessage(bytes);
      if (!arrived) throw new Error(`${message.type} does not survive the wire`);
      if (from === to || !(this.silent.has(from) || this.silent.has(to))) arrive(arrived);
    };
    // What a leader tells itself takes no way at all: it comes while the sender is still busy.
    if (from === to) deliver();
    else this.#wire.push(deliver);
  }
}

/** One member, with a renderer that waits for the test. */
export class Member {
  readonly checkpoint = new Checkpoint({
    pictureChanged: () => undefined,
    tileAccepted: () => undefined,
  });
  readonly contributor: Contributor;
  /** Tiles that it began to compute, in order. */
  readonly begun: number[] = [];
  #finish: (() => void) | null = null;

  constructor(send: (to: string | null, message: MemberMessage) => boolean) {
    this.contributor = new Contributor({
      checkpoint: this.checkpoint,
      send,
      render: (picture, tile) =>
        new Promise((resolve) => {
          if (this.#finish) throw new Error('a worker computes one tile at a time');
          this.begun.push(tile);
          this.#finish = () => resolve(pixelsOf(picture, tile));
        }),
    });
  }

  async finishTile(): Promise<boolean> {
    const finish = this.#finish;
    if (!finish) return false;
    this.#finish = null;
    finish();
    // The contributor goes on in microtasks: a few of them, and never more.
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    return true;
  }
}

/** Stands for the real computation: cheap, and different for each tile. */
export function pixelsOf(picture: Picture, tile: number): Uint8Array {
  const columns = Math.ceil(picture.width / picture.tileSize);
  const width = Math.min(picture.tileSize, picture.width - (tile % columns) * picture.tileSize);
  const height = Math.min(
    picture.tileSize,
    picture.height - Math.floor(tile / columns) * picture.tileSize,
  );
  return new Uint8Array(width * height).fill(tile + 1);
}
