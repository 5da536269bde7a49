import { colourOf, initialsOf, nameOf } from '../name.ts';
import { type ClusterView, formatMs, type MemberView } from './cluster-view.ts';
import { keyed, setAttributes, setText, svg } from './element.ts';

const CENTRE = { x: 220, y: 165 };
const RADIUS = { x: 150, y: 112 };
const CROWN = 'M-11 0-13-13l7 5 6-9 6 9 7-5-2 13z';
/** More names than this would run into each other. */
const NAMES_MAX = 10;

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Members on a ring, this tab at the bottom, and its links to them. */
export class RosterPicture {
  readonly #root: SVGSVGElement;
  readonly #links = svg('g');
  readonly #members = svg('g');

  constructor(root: SVGSVGElement) {
    this.#root = root;
    root.append(
      svg('ellipse', { class: 'ring', cx: CENTRE.x, cy: CENTRE.y, rx: RADIUS.x, ry: RADIUS.y }),
    );
    root.append(this.#links, this.#members);
  }

  show(view: ClusterView): void {
    const places = placesOf(view);
    const others = view.members.filter(({ isSelf }) => !isSelf);
    const ids = (members: readonly MemberView[]) => members.map(({ id }) => id);
    const links = keyed(this.#links, ids(others), makeLink);
    others.forEach((member, index) => {
      drawLink(links[index], member, places.get(view.self), places.get(member.id));
    });
    const figures = keyed(this.#members, ids(view.members), makeFigure);
    view.members.forEach((member, index) => {
      drawFigure(figures[index], member, places.get(member.id), view.members.length);
    });
    setAttributes(this.#root, { 'aria-label': describe(view) });
  }
}

function placesOf({ members, self }: ClusterView): ReadonlyMap<string, Place> {
  const start = members.findIndex(({ id }) => id === self);
  return new Map(
    members.map(({ id }, index) => {
      const turn = ((index - start) / members.length) * 2 * Math.PI;
      const alone = members.length === 1;
      const x = CENTRE.x - (alone ? 0 : Math.sin(turn) * RADIUS.x);
      const y = CENTRE.y + (alone ? 0 : Math.cos(turn) * RADIUS.y);
      return [id, { x, y }];
    }),
  );
}

function makeLink(): SVGGElement {
  return svg('g', {}, svg('line'), svg('text', { class: 'rtt', 'text-anchor': 'middle' }));
}

function drawLink(
  link: SVGGElement | undefined,
  member: MemberView,
  from?: Place,
  to?: Place,
): void {
  if (!link || !from || !to) return;
  const [line, label] = link.children;
  setAttributes(link, { class: `link ${member.link}${member.isSuspect ? ' suspect' : ''}` });
  if (line) setAttributes(line, { x1: from.x, y1: from.y, x2: to.x, y2: to.y });
  if (!label) return;
  // In the middle of what can be seen of the line, on it.
  setAttributes(label, { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 + 4 });
  const shown = member.link === 'direct' && member.rttMs !== undefined;
  setText(label, shown ? formatMs(member.rttMs) : member.link === 'direct' ? '' : member.link);
}

function makeFigure(id: string): SVGGElement {
  return svg(
    'g',
    { class: 'figure' },
    svg('circle', { class: 'halo', r: 29 }),
    svg('circle', { class: 'body', r: 22, style: `--colour: ${colourOf(id)}` }),
    svg('text', { class: 'initials', 'text-anchor': 'middle', dy: '0.36em' }, initialsOf(id)),
    svg('path', { class: 'crown', d: CROWN, transform: 'translate(0 -25)' }),
    svg('text', { class: 'name', 'text-anchor': 'middle', y: 42 }, nameOf(id)),
  );
}

function drawFigure(
  figure: SVGGElement | undefined,
  member: MemberView,
  place: Place | undefined,
  count: number,
): void {
  if (!figure || !place) return;
  const classes = ['figure'];
  if (member.isSelf) classes.push('self');
  if (member.isLeader) classes.push('leader');
  if (member.isSuspect) classes.push('suspect');
  if (count > NAMES_MAX) classes.push('nameless');
  setAttributes(figure, {
    class: classes.join(' '),
    style: `transform: translate(${place.x.toFixed(1)}px, ${place.y.toFixed(1)}px)`,
  });
}

function describe({ members }: ClusterView): string {
  const words = members.map((member) => {
    const marks = [
      member.isLeader && 'leads',
      member.isSelf && 'this tab',
      member.isSuspect && 'suspect',
    ].filter((mark) => mark !== false);
    return marks.length > 0 ? `${nameOf(member.id)} (${marks.join(', ')})` : nameOf(member.id);
  });
  return `${members.length} members: ${words.join('; ')}`;
}
