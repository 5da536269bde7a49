import { nameOf, shortId } from '../name.ts';
import { byId, setAttributes, setText } from '../view/element.ts';
import { tabIcon } from '../view/tab-icon.ts';
import { ComplaintList } from './complaint-list.ts';
import type { Copy } from './copy.ts';
import {
  hintOf,
  isOver,
  roleOf,
  type Situation,
  situationOf,
  socketsOf,
  tabsOf,
  verdictOf,
} from './situation.ts';
import { TextArea } from './text-area.ts';
import { WriterList } from './writer-list.ts';

/** Events come in bursts: one drawing serves them all. */
const DRAW_DELAY_MS = 40;

/** The page of the editor: draws what a copy of the text knows. */
export class EditorPage {
  readonly #writers = new WriterList(byId('writers'));
  readonly #complaints = new ComplaintList(byId('complaints'));
  #copy: Copy | null = null;
  #area: TextArea | null = null;
  #problem: string | null = null;
  #drawTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    byId<HTMLAnchorElement>('another-tab').href = location.href;
    byId<HTMLAnchorElement>('other-page').hash = location.hash;
    byId('reload').addEventListener('click', () => location.reload());
  }

  show(copy: Copy): void {
    this.#copy = copy;
    this.#area = new TextArea(byId('text'), copy);
    copy.addEventListener('change', () => this.#drawSoon());
    this.#draw();
  }

  /** Other browsers cannot be reached from here, or null. */
  complain(problem: string | null): void {
    this.#problem = problem;
    this.#draw();
  }

  /** There is no copy to show: it could not be made. */
  showFailure(why: string): void {
    setText(byId('verdict'), 'This tab cannot take part.');
    setText(byId('hint'), why);
    setAttributes(byId('reload'), { hidden: false });
  }

  #drawSoon(): void {
    if (this.#drawTimer !== undefined) return;
    // A timer and not an animation frame: the title tells who leads in hidden tabs, too.
    this.#drawTimer = setTimeout(() => this.#draw(), DRAW_DELAY_MS);
  }

  #draw(): void {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = undefined;
    const copy = this.#copy;
    if (!copy) return;
    const situation = situationOf(copy);
    drawState(situation, this.#problem);
    drawServer(situation);
    this.#writers.show(copy.node.members, situation.leader);
    this.#complaints.show(copy.complaints.all);
    setAttributes(byId('no-complaints'), { hidden: copy.complaints.all.length > 0 });
    if (isOver(situation)) this.#area?.close();
  }
}

function drawState(situation: Situation, problem: string | null): void {
  const { self, leader, epoch } = situation;
  const leads = leader === self && !isOver(situation);
  setText(byId('verdict'), verdictOf(situation));
  setText(byId('hint'), hintOf(situation));
  setText(byId('problem'), problem ?? '');
  setText(byId('self'), `${nameOf(self)} ${shortId(self)}`);
  setText(byId('leader'), leader === null ? 'nobody' : `${nameOf(leader)} ${shortId(leader)}`);
  setText(byId('epoch'), String(epoch));
  setText(byId('role'), roleOf(situation));
  setText(byId('tab-count'), tabsOf(situation));
  setAttributes(byId('reload'), { hidden: !isOver(situation) });
  setAttributes(document.body, { class: leads ? 'editor leads' : 'editor' });
  document.title = `${leads ? '♛ ' : ''}${nameOf(self)} · epoch ${epoch} · Doyen editor`;
  setAttributes(byId('icon'), { href: tabIcon(self, leads) });
}

function drawServer(situation: Situation): void {
  const { status, isSynced, unsynced, sockets, isUnanswered } = situation;
  setText(byId('sockets'), sockets ? String(sockets.sockets) : '?');
  setText(byId('socket-noun'), `socket${sockets?.sockets === 1 ? '' : 's'} for this text`);
  setText(byId('socket-kinds'), socketsOf(situation));
  setText(
    byId('socket-source'),
    isUnanswered ? 'The server does not answer.' : 'Counted by the server, asked every second.',
  );
  setText(byId('status'), status);
  setText(byId('unsynced'), String(unsynced));
  setText(byId('synced'), isSynced ? 'has all of the server’s' : 'may lack something');
}
