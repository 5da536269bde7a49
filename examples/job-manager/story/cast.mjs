import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** Saying goodbye takes a worker a second at most; what takes longer hangs. */
const LEAVE_LIMIT_MS = 5_000;

/** The processes of a story, by name, and all that they report. */
export class Cast {
  /** @type {Report[]} everything that was reported, oldest first */
  reports = [];
  #children = new Map();
  #failure = new AbortController();
  #looks = new Set();
  #listener;

  /**
   * @typedef {{ by: string, type: string } & Record<string, any>} Report
   * @param {(report: Report) => void} listener hears every report
   */
  constructor(listener) {
    this.#listener = listener;
    process.once('exit', this.#kill);
  }

  /** Starts a process that reports over its IPC channel. */
  start(name, script, args = []) {
    const child = fork(script, args);
    this.#children.set(name, child);
    child.on('message', (report) => this.note({ by: name, ...report }));
    child.once('exit', (code, signal) => {
      this.#children.delete(name);
      this.fail(`${name} has ended: ${signal ?? `exit code ${code}`}`);
    });
  }

  /** Tells a worker what to do, or what to suffer. */
  order(name, order, members = []) {
    // One that is gone hears nothing, and its exit says so.
    this.#children.get(name)?.send({ order, members }, () => undefined);
  }

  /** Takes a report, also of what is no process. */
  note(report) {
    this.reports.push(report);
    this.#listener(report);
    for (const look of this.#looks) look();
  }

  /** The first report for which `isMet`, one of the past or one to come. */
  until(what, isMet) {
    return new Promise((resolve, reject) => {
      const { signal } = this.#failure;
      const look = () => {
        const report = this.reports.find(isMet);
        if (!report && !signal.aborted) return;
        this.#looks.delete(look);
        if (report) resolve(report);
        else reject(new Error(`While ${what} was awaited: ${signal.reason}`));
      };
      this.#looks.add(look);
      look();
    });
  }

  /** Nobody is to wait for anything more. */
  fail(reason) {
    this.#failure.abort(reason);
    for (const look of this.#looks) look();
  }

  /** Lets those leave who know how, and ends the others. */
  async close(leaving) {
    const exits = [...this.#children.values()].map((child) => once(child, 'exit'));
    const left = leaving.map((name) => this.#children.get(name)).filter((child) => child);
    for (const name of leaving) this.order(name, 'leave');
    await Promise.race([
      Promise.all(left.map((child) => once(child, 'exit'))),
      sleep(LEAVE_LIMIT_MS, undefined, { ref: false }),
    ]);
    this.#kill();
    await Promise.all(exits);
    process.off('exit', this.#kill);
  }

  #kill = () => {
    for (const child of this.#children.values()) child.kill('SIGKILL');
  };
}
