import type { Hint, Lifecycle, LinkDownReason, TransportHandler } from '../transport/transport.ts';

/** One report of a transport, as it came. */
export type Report =
  | { readonly type: 'linkUp'; readonly peer: string; readonly id: string | undefined }
  | { readonly type: 'linkDown'; readonly peer: string; readonly why: LinkDownReason }
  | { readonly type: 'message'; readonly peer: string; readonly bytes: Uint8Array }
  | { readonly type: 'hint'; readonly peer: string; readonly kind: Hint }
  | { readonly type: 'discovery'; readonly pending: number }
  | { readonly type: 'lifecycle'; readonly kind: Lifecycle }
  | { readonly type: 'fault'; readonly code: string; readonly message: string };

/** A transport handler that writes down what it is told, and lets a test wait for it. */
export class Recorder implements TransportHandler {
  readonly reports: Report[] = [];
  readonly #waiting = new Set<() => void>();

  linkUp(peer: string, info?: { readonly id?: string }): void {
    this.#record({ type: 'linkUp', peer, id: info?.id });
  }

  linkDown(peer: string, why: LinkDownReason): void {
    this.#record({ type: 'linkDown', peer, why });
  }

  message(peer: string, bytes: Uint8Array): void {
    this.#record({ type: 'message', peer, bytes });
  }

  hint(peer: string, kind: Hint): void {
    this.#record({ type: 'hint', peer, kind });
  }

  discovery(pending: number): void {
    this.#record({ type: 'discovery', pending });
  }

  lifecycle(kind: Lifecycle): void {
    this.#record({ type: 'lifecycle', kind });
  }

  fault(code: string, message: string): void {
    this.#record({ type: 'fault', code, message });
  }

  /** Keys of the links that are up now, oldest first. */
  get links(): readonly string[] {
    const up = new Set<string>();
    for (const report of this.reports) {
      if (report.type === 'linkUp') up.add(report.peer);
      else if (report.type === 'linkDown') up.delete(report.peer);
    }
    return [...up];
  }

  /** Reports of one type, in order. */
  of<T extends Report['type']>(type: T): Extract<Report, { type: T }>[] {
    return this.reports.filter((report): report is Extract<Report, { type: T }> => {
      return report.type === type;
    });
  }

  /** Resolves once `met()` is true; rejects after `withinMs`, saying what was waited for. */
  async until(what: string, met: () => boolean, withinMs: number): Promise<void> {
    if (met()) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`Not within ${withinMs} ms: ${what}. Reported: ${this.#summary()}`));
      }, withinMs);
      const look = () => {
        if (!met()) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
    });
  }

  #record(report: Report): void {
    this.reports.push(report);
    for (const look of [...this.#waiting]) look();
  }

  #summary(): string {
    const kinds = this.reports.map((report) => {
      return 'peer' in report ? `${report.type} ${report.peer}` : report.type;
    });
    return kinds.slice(-20).join(', ') || 'nothing';
  }
}
