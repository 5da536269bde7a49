import { colourOf, nameOf, shortId } from '../name.ts';
import { type ClusterView, describeLink, type MemberView } from './cluster-view.ts';
import { html, keyed, setAttributes, setText } from './element.ts';

/** The members in words, each with a button that cuts or mends the link to it. */
export class MemberList {
  readonly #root: HTMLElement;
  readonly #toggleLink: (member: string) => void;

  constructor(root: HTMLElement, toggleLink: (member: string) => void) {
    this.#root = root;
    this.#toggleLink = toggleLink;
  }

  show(view: ClusterView, isActive: boolean): void {
    const ids = view.members.map(({ id }) => id);
    const rows = keyed(this.#root, ids, (id) => this.#makeRow(id));
    view.members.forEach((member, index) => {
      const row = rows[index];
      if (row) showRow(row, member, isActive);
    });
  }

  #makeRow(id: string): HTMLLIElement {
    const button = html('button', { class: 'button small', type: 'button' });
    button.addEventListener('click', () => this.#toggleLink(id));
    return html(
      'li',
      {},
      html('span', { class: 'dot', style: `--colour: ${colourOf(id)}` }),
      html('span', { class: 'who' }, html('b', {}, nameOf(id)), ' ', html('code', {}, shortId(id))),
      html('span', { class: 'how quiet' }),
      html('span', { class: 'badge' }),
      button,
    );
  }
}

function showRow(row: HTMLLIElement, member: MemberView, isActive: boolean): void {
  const [how, badge] = [row.querySelector('.how'), row.querySelector('.badge')];
  const button = row.querySelector('button');
  const tiles = member.tiles === 1 ? '1 tile' : `${member.tiles} tiles`;
  if (how) setText(how, `${describeLink(member)} · ${tiles}`);
  if (badge) {
    const mark = member.isSuspect ? 'suspect' : member.isLeader ? 'leader' : '';
    setText(badge, mark);
    setAttributes(badge, { class: `badge ${mark}`, hidden: mark === '' });
  }
  if (!button) return;
  const verb = member.link === 'cut' ? 'Mend link' : 'Cut link';
  setText(button, verb);
  setAttributes(button, {
    'aria-label': `${verb} to ${nameOf(member.id)}`,
    hidden: member.isSelf,
    disabled: !isActive,
  });
  setAttributes(row, { class: member.isSuspect ? 'suspect' : undefined });
}
