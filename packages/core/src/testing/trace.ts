import type { SimEvent } from './sim-node.ts';

/** What happened in a simulation: text, one line an event, equal for equal seeds. */
export class Trace {
  readonly #header: string;
  #lines: string[] = [];
  #lostCount = 0;

  constructor(header: string) {
    this.#header = header;
  }

  /** `at` in virtual milliseconds; `who` is a node's id, or `sim` for what the test does. */
  add(at: number, who: string, what: string): void {
    this.#lines.push(`${formatTime(at).padStart(9)}  ${who}  ${what}`);
    if (this.#lines.length < 2 * LINES_MAX) return;
    this.#lines = this.#lines.slice(LINES_MAX);
    this.#lostCount += LINES_MAX;
  }

  /** The last lines only, for error messages. */
  tail(count: number): string {
    return this.#lines.slice(-count).join('\n');
  }

  text(): string {
    const lost = this.#lostCount > 0 ? [`# ${this.#lostCount} older lines are gone`] : [];
    return `${[this.#header, ...lost, ...this.#lines].join('\n')}\n`;
  }
}

/** One line for a public event. */
export function describeEvent(event: SimEvent): string {
  const { type, leader, previous, epoch, member, state, code, reason } = event;
  const words: string[] = [type];
  if (member !== undefined) words.push(member);
  if (state !== undefined) words.push(state);
  if (code !== undefined) words.push(code);
  if (leader !== undefined) words.push(`${previous ?? 'nobody'} -> ${leader ?? 'nobody'}`);
  if (epoch !== undefined) words.push(`epoch=${epoch}`);
  if (reason !== undefined) words.push(`(${reason})`);
  return words.join(' ');
}

/** The bytes of a message, in hexadecimal; long ones by their beginning and length. */
export function describeBytes(bytes: Uint8Array): string {
  const shown = Array.from(bytes.subarray(0, 64), (byte) => byte.toString(16).padStart(2, '0'));
  return `${shown.join('')}${bytes.length > 64 ? `… ${bytes.length} bytes` : ''}`;
}

/** Whole microseconds: clock rates make fractions that nobody wants to read. */
function formatTime(at: number): string {
  return String(Math.round(at * 1000) / 1000);
}

/** A trace keeps at least so many lines: some hours of a busy cluster, some tens of megabytes. */
const LINES_MAX = 200_000;
