import type { Checkpoint } from './checkpoint.ts';
import type { LeaderMessage, MemberMessage, TileMessage } from './message.ts';
import { isTile, type Picture } from './picture.ts';

export interface ContributorOptions {
  readonly checkpoint: Checkpoint;
  /** Computes a tile; rejects when it will never be done. */
  readonly render: (picture: Picture, tile: number) => Promise<Uint8Array>;
  /** Sends to a member, or with `null` to whoever leads, this node included. False: it cannot. */
  readonly send: (to: string | null, message: MemberMessage) => boolean;
}

interface Job {
  readonly picture: Picture;
  readonly key: string;
  readonly tile: number;
  readonly epoch: number;
}

/** More than a leader ever hands out. */
const JOBS_MAX = 16;
/** Results that wait for a leader: one is usual, while an election runs. */
const UNSENT_MAX = 16;

/**
 * A member's part, the leader's own included: computes what it is told to, one tile after the
 * other, keeps a copy of everything that was accepted, and hands it over when a leader asks.
 */
export class Contributor {
  readonly #options: ContributorOptions;
  #jobs: Job[] = [];
  #unsent: MemberMessage[] = [];
  #current: number | null = null;
  #isWorking = false;
  #ended = false;

  constructor(options: ContributorOptions) {
    this.#options = options;
  }

  /** The tile in work. */
  get current(): number | null {
    return this.#current;
  }

  /** Takes no more work. */
  end(): void {
    this.#ended = true;
    this.#jobs = [];
    this.#unsent = [];
  }

  receive(from: string, message: LeaderMessage, epoch: number): void {
    if (this.#ended) return;
    if (message.type === 'assign') this.#takeJob(message, epoch);
    else if (message.type === 'survey') this.#answerSurvey(from, message);
    else if (message.type === 'tile') this.#takeTile(message);
    else this.#handOver(from, message);
  }

  /**
   * What an earlier leader handed out and is not begun is not worth beginning: its result would be
   * refused. What is done, or being done, is offered all the same; the leader decides.
   */
  leaderChanged(oldestWantedEpoch: number, isKnown: boolean): void {
    this.#jobs = this.#jobs.filter((job) => job.epoch >= oldestWantedEpoch);
    if (!isKnown) return;
    const unsent = this.#unsent;
    this.#unsent = [];
    for (const message of unsent) this.#submit(message);
  }

  #takeJob(message: LeaderMessage & { type: 'assign' }, epoch: number): void {
    const { picture, key } = this.#options.checkpoint;
    if (!picture || message.key !== key || !isTile(picture, message.tile)) return;
    this.#jobs = this.#jobs.filter((job) => job.key === key);
    if (this.#jobs.length >= JOBS_MAX) return;
    this.#jobs.push({ picture, key, tile: message.tile, epoch });
    if (!this.#isWorking) void this.#work();
  }

  /**
   * Works until no job is left. A leader that submits to itself gets its next job within `#submit`,
   * which must not begin a second round of work.
   */
  async #work(): Promise<void> {
    this.#isWorking = true;
    for (let job = this.#jobs.shift(); job && !this.#ended; job = this.#jobs.shift()) {
      this.#current = job.tile;
      const pixels = await this.#options.render(job.picture, job.tile).catch(() => null);
      this.#current = null;
      const { key, tile, epoch } = job;
      if (pixels && !this.#ended) this.#submit({ type: 'result', key, tile, epoch, pixels });
    }
    this.#isWorking = false;
  }

  #submit(message: MemberMessage): void {
    if (this.#options.send(null, message) || this.#unsent.length >= UNSENT_MAX) return;
    this.#unsent.push(message);
  }

  #answerSurvey(leader: string, survey: LeaderMessage & { type: 'survey' }): void {
    const { checkpoint } = this.#options;
    const own = checkpoint.picture;
    const isOlder = survey.picture && own && survey.picture.revision < own.revision;
    if (survey.picture && !isOlder) checkpoint.show(survey.picture);
    checkpoint.learnRefused(survey.refusedStale);
    if (!survey.everybody && !isOlder && checkpoint.done === survey.done) return;
    const { picture } = checkpoint;
    this.#options.send(leader, { type: 'inventory', picture, epochs: checkpoint.inventory() });
  }

  #takeTile(message: TileMessage): void {
    const { checkpoint } = this.#options;
    const { picture } = checkpoint;
    checkpoint.learnRefused(message.refusedStale);
    if (!picture || message.key !== checkpoint.key || !isTile(picture, message.id)) return;
    const { id, epoch, by, computed, pixels } = message;
    checkpoint.accept({ id, epoch, by, computed }, pixels);
  }

  #handOver(leader: string, message: LeaderMessage & { type: 'want' }): void {
    const { checkpoint } = this.#options;
    if (message.key !== checkpoint.key) return;
    for (const id of message.tiles) {
      const tile = checkpoint.get(id);
      if (!tile) continue;
      const { key, refusedStale } = checkpoint;
      const { record, pixels } = tile;
      this.#options.send(leader, { type: 'tile', key, ...record, refusedStale, pixels });
    }
  }
}
