import { networkProblem } from '../network-probe.ts';
import { readEditorAddress } from './address.ts';
import { Copy } from './copy.ts';
import { EditorPage } from './editor-page.ts';

declare global {
  /** This tab's copy of the text. */
  var doyenText: Copy | undefined;
}

const page = new EditorPage();

async function open(): Promise<void> {
  try {
    const copy = await Copy.open(readEditorAddress(new URL(location.href)));
    globalThis.doyen = copy.node;
    globalThis.doyenText = copy;
    page.show(copy);
  } catch (error) {
    page.showFailure(error instanceof Error ? error.message : String(error));
  }
}

addEventListener('hashchange', () => location.reload());
void open();
void networkProblem().then((problem) => page.complain(problem));
