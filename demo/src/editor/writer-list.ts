import type { Member } from '@doyen/core';
import { colourOf, nameOf, shortId } from '../name.ts';
import { html, keyed, setAttributes, setText } from '../view/element.ts';

/** The tabs of the cluster, in the colours of their cursors. */
export class WriterList {
  readonly #root: HTMLElement;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  show(members: readonly Member[], leader: string | null): void {
    const rows = keyed(
      this.#root,
      members.map(({ id }) => id),
      makeRow,
    );
    members.forEach(({ id, status, link }, index) => {
      const row = rows[index];
      if (!row) return;
      const badge = row.querySelector('.badge');
      const isSuspect = status === 'suspect';
      const mark = isSuspect ? 'suspect' : id === leader ? 'leader' : '';
      if (badge) {
        setText(badge, mark);
        setAttributes(badge, { class: `badge ${mark}`, hidden: mark === '' });
      }
      const note = row.querySelector('.quiet');
      if (note) setText(note, link === 'self' ? 'this tab' : '');
      setAttributes(row, { class: isSuspect ? 'suspect' : undefined });
    });
  }
}

function makeRow(id: string): HTMLLIElement {
  return html(
    'li',
    {},
    html('span', { class: 'dot', style: `--colour: ${colourOf(id)}` }),
    html('b', {}, nameOf(id)),
    html('code', {}, shortId(id)),
    html('span', { class: 'badge' }),
    html('span', { class: 'quiet' }),
  );
}
