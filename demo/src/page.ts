import type { LeaderChangeEvent, Member } from '@doyen/core';
import type { CheckpointListener, Progress, TileRecord } from './coordinator/checkpoint.ts';
import type { Picture } from './coordinator/picture.ts';
import { colourOf, colourOfEpoch, nameOf, shortId } from './name.ts';
import type { Tab } from './tab.ts';
import type { ClusterView, MemberView } from './view/cluster-view.ts';
import { byId, html, keyed, setAttributes, setText } from './view/element.ts';
import { History } from './view/history.ts';
import { MandelbrotCanvas, type Tint } from './view/mandelbrot-canvas.ts';
import { MemberList } from './view/member-list.ts';
import { RosterPicture } from './view/roster-picture.ts';
import { tabIcon } from './view/tab-icon.ts';
import { hintOf, type Situation, verdictOf } from './view/verdict.ts';

/** What the page asks of the program. */
export interface PageActions {
  joinAgain(): void;
}

/** Events come in bursts: one drawing serves them all. */
const DRAW_DELAY_MS = 40;
/** Round trips and the strip change without an event. */
const REFRESH_MS = 1_000;

/** The page: draws a tab, and passes on what its buttons ask for. */
export class Page implements CheckpointListener {
  readonly #canvas = new MandelbrotCanvas(byId('canvas'), byId('outlines'));
  readonly #roster = new RosterPicture(byId('roster'));
  readonly #members = new MemberList(byId('members'), (id) => this.#toggleLink(id));
  readonly #history = new History(byId('strip'), byId('history'));
  #tab: Tab | null = null;
  #problem: string | null = null;
  #drawTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(actions: PageActions) {
    byId<HTMLAnchorElement>('another-tab').href = location.href;
    byId<HTMLAnchorElement>('other-page').hash = location.hash;
    byId('join-again').addEventListener('click', () => actions.joinAgain());
    byId('leave').addEventListener('click', () => void this.#tab?.leave());
    byId('crash').addEventListener('click', () => this.#tab?.crash());
    byId('freeze').addEventListener('click', () => this.#toggleFreeze());
    byId('restart').addEventListener('click', () => this.#tab?.computation.restart());
    for (const radio of document.getElementsByName('tint')) {
      radio.addEventListener('change', () => this.#draw());
    }
    setInterval(() => this.#refresh(), REFRESH_MS);
  }

  show(tab: Tab): void {
    this.#tab = tab;
    tab.addEventListener('change', () => this.#drawSoon());
    tab.node.leadership.addEventListener('change', (event) => this.#record(event));
    this.#draw();
  }

  /** Something around the tab that does not work, or null. */
  complain(problem: string | null): void {
    this.#problem = problem;
    this.#draw();
  }

  /** There is no node to show: it could not be made. */
  showFailure(why: string): void {
    setText(byId('verdict'), 'This tab cannot take part.');
    setText(byId('hint'), why);
    setAttributes(byId('join-again'), { hidden: false });
  }

  pictureChanged(picture: Picture): void {
    this.#canvas.begin(picture);
    this.#drawSoon();
  }

  tileAccepted(record: TileRecord, pixels: Uint8Array): void {
    this.#canvas.paint(record, pixels);
    this.#drawSoon();
  }

  #record({ leader, epoch, reason }: LeaderChangeEvent): void {
    this.#history.add({ at: performance.now(), leader: leader?.id ?? null, epoch, reason });
  }

  #refresh(): void {
    this.#history.drawStrip(performance.now());
    this.#draw();
  }

  #drawSoon(): void {
    if (this.#drawTimer !== undefined) return;
    // A timer and not an animation frame: the title tells who leads in hidden tabs, too.
    this.#drawTimer = setTimeout(() => this.#draw(), DRAW_DELAY_MS);
  }

  #draw(): void {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = undefined;
    const tab = this.#tab;
    if (!tab) return;
    const progress = tab.computation.checkpoint.progress();
    const cluster = clusterOf(tab, progress);
    const isActive = tab.condition === 'running';
    const complaint = this.#problem ?? (cluster.members.length === 1 ? tab.complaint : null);
    drawState({ condition: tab.condition, state: tab.node.state, cluster, complaint });
    this.#roster.show(cluster);
    this.#members.show(cluster, isActive);
    this.#drawPicture(tab, progress);
    drawControls(tab);
  }

  #drawPicture(tab: Tab, progress: Progress): void {
    const checked = document.querySelector<HTMLInputElement>('input[name="tint"]:checked');
    const tint = (checked?.value ?? 'member') as Tint;
    this.#canvas.outline(progress.tiles, tab.computation.inFlight, tint);
    drawProgress(progress);
    drawLegend(progress.tiles, tint);
  }

  #toggleLink(id: string): void {
    if (this.#tab?.isCut(id)) this.#tab.mend(id);
    else this.#tab?.cut(id);
  }

  #toggleFreeze(): void {
    if (this.#tab?.condition === 'frozen') this.#tab.thaw();
    else this.#tab?.freeze();
  }
}

function clusterOf(tab: Tab, progress: Progress): ClusterView {
  const { node } = tab;
  const leader = node.leadership.current?.id ?? null;
  const hasNeighbour = node.members.some(({ id, link }) => link === 'direct' && !tab.isCut(id));
  const members = node.members.map(({ id, status, link }) => ({
    id,
    isSelf: id === node.id,
    isLeader: id === leader,
    isSuspect: status === 'suspect',
    link: shownLink(link, tab.isCut(id), hasNeighbour),
    rttMs: node.rtt(id),
    tiles: progress.tiles.filter(({ by }) => by === id).length,
  }));
  return { self: node.id, leader, epoch: node.leadership.epoch, members };
}

function shownLink(
  link: Member['link'],
  isCut: boolean,
  hasNeighbour: boolean,
): MemberView['link'] {
  if (isCut) return 'cut';
  return link === 'relayed' && !hasNeighbour ? 'silent' : link;
}

function drawState(situation: Situation): void {
  const { cluster, state, condition } = situation;
  const leads = cluster.leader === cluster.self && condition === 'running';
  setText(byId('verdict'), verdictOf(situation));
  setText(byId('hint'), hintOf(situation));
  setText(byId('epoch'), String(cluster.epoch));
  setText(byId('self'), `${nameOf(cluster.self)} ${shortId(cluster.self)}`);
  setText(byId('state'), condition === 'running' ? state : condition);
  setText(byId('member-count'), String(cluster.members.length));
  setAttributes(document.body, { class: `${condition}${leads ? ' leads' : ''}` });
  document.title = `${leads ? '♛ ' : ''}${nameOf(cluster.self)} · epoch ${cluster.epoch} · Doyen`;
  setAttributes(byId('icon'), { href: tabIcon(cluster.self, leads) });
}

function drawProgress({ done, total, tiles, refusedStale }: Progress): void {
  const bar = byId<HTMLProgressElement>('progress');
  bar.max = Math.max(total, 1);
  bar.value = done;
  const again = tiles.filter(({ computed }) => computed > 1).length;
  setText(byId('done'), `${done} of ${total} tiles`);
  setText(byId('share'), total > 0 && done === total ? 'complete' : '');
  setText(byId('again'), String(again));
  setText(byId('refused'), String(refusedStale));
}

function drawLegend(tiles: readonly TileRecord[], tint: Tint): void {
  const counts = new Map<string, number>();
  for (const { by, epoch } of tiles) {
    const key = tint === 'epoch' ? String(epoch) : by;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const keys = tint === 'none' ? [] : [...counts.keys()].sort().map((key) => `${tint}:${key}`);
  const items = keyed(byId('legend'), keys, () =>
    html('li', {}, html('span', { class: 'dot' }), html('span')),
  );
  items.forEach((item, index) => {
    const key = keys[index]?.slice(tint.length + 1) ?? '';
    const colour = tint === 'epoch' ? colourOfEpoch(Number(key)) : colourOf(key);
    const label = tint === 'epoch' ? `epoch ${key}` : nameOf(key);
    const [dot, text] = item.children;
    if (dot) setAttributes(dot, { style: `--colour: ${colour}` });
    if (text) setText(text, `${label}: ${counts.get(key) ?? 0}`);
  });
}

function drawControls({ condition }: Tab): void {
  const isOver = condition !== 'running' && condition !== 'frozen';
  for (const id of ['leave', 'crash', 'freeze']) setAttributes(byId(id), { disabled: isOver });
  setAttributes(byId('restart'), { disabled: condition !== 'running' });
  setAttributes(byId('join-again'), { hidden: !isOver });
  setText(byId('freeze'), condition === 'frozen' ? 'Thaw' : 'Freeze');
}
