import { colourOf, nameOf } from '../name.ts';
import { formatMs } from './cluster-view.ts';
import { html, setAttributes } from './element.ts';

/** One state of leadership, from `at` on. */
interface Reign {
  readonly at: number;
  readonly leader: string | null;
  readonly epoch: number;
  readonly reason: string;
}

/** Enough to read back; the strip shows the same. */
const REIGNS_MAX = 40;

/** Who led when: a strip to scale, and the changes in words, newest first. */
export class History {
  readonly #strip: HTMLElement;
  readonly #list: HTMLElement;
  #reigns: Reign[] = [];

  constructor(strip: HTMLElement, list: HTMLElement) {
    this.#strip = strip;
    this.#list = list;
  }

  add(reign: Reign): void {
    this.#list.prepend(this.#describe(reign, this.#reigns.at(-1)));
    this.#reigns = [...this.#reigns, reign].slice(-REIGNS_MAX);
    while (this.#list.children.length > REIGNS_MAX) this.#list.lastElementChild?.remove();
    this.drawStrip(reign.at);
  }

  drawStrip(now: number): void {
    const segments = this.#reigns.map((reign, index) => {
      const share = Math.max(1, (this.#reigns[index + 1]?.at ?? now) - reign.at);
      const colour = reign.leader ? `; --colour: ${colourOf(reign.leader)}` : '';
      const style = `flex-grow: ${share.toFixed(0)}${colour}`;
      const title = reign.leader ? `epoch ${reign.epoch}: ${nameOf(reign.leader)}` : 'no leader';
      return html('span', { class: reign.leader ? 'reign' : 'reign none', style, title });
    });
    this.#strip.replaceChildren(...segments);
    const changes = this.#reigns.filter(({ leader }) => leader !== null).length;
    setAttributes(this.#strip, { 'aria-label': `Who led when: ${changes} terms` });
  }

  #describe(reign: Reign, before: Reign | undefined): HTMLLIElement {
    const time = new Date().toLocaleTimeString([], { hour12: false });
    const stamp = html('time', {}, time);
    const reason = html('span', { class: 'quiet' }, wordsOf(reign, before));
    if (!reign.leader) return html('li', {}, stamp, html('span', {}, 'nobody leads'), reason);
    const dot = html('span', { class: 'dot', style: `--colour: ${colourOf(reign.leader)}` });
    const who = html(
      'span',
      {},
      dot,
      html('b', {}, nameOf(reign.leader)),
      ` leads epoch ${reign.epoch}`,
    );
    return html('li', {}, stamp, who, reason);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  elected: 'elected',
  preempted: 'another took over',
  merged: 'two groups met',
  leave: 'the leader left',
  evicted: 'the leader was silent for too long',
  replaced: 'the leader was restarted',
  gone: 'the leader is gone',
  silent: 'the leader fell silent',
  vacated: 'the leader gave up the lead',
  resigned: 'the leader resigned',
  transferred: 'the lead was handed over',
};

function wordsOf(reign: Reign, before: Reign | undefined): string {
  const reason = REASONS[reign.reason] ?? reign.reason;
  const gap = reign.leader && before && !before.leader ? reign.at - before.at : undefined;
  return gap === undefined ? reason : `${reason}, after ${formatMs(gap)} without a leader`;
}
