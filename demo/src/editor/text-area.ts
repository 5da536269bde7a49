import { defaultKeymap } from '@codemirror/commands';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { yCollab, yUndoManagerKeymap } from 'y-codemirror.next';
import { UndoManager } from 'yjs';
import type { Copy } from './copy.ts';

/** Where the text is written: CodeMirror, bound to this tab's copy. */
export class TextArea {
  readonly #view: EditorView;
  readonly #access = new Compartment();

  constructor(parent: Element, { text, provider }: Copy) {
    const undoManager = new UndoManager(text);
    this.#view = new EditorView({
      parent,
      state: EditorState.create({
        doc: text.toString(),
        extensions: [
          yCollab(text, provider.awareness, { undoManager }),
          // Tab is not among them: it leaves the editor, as everywhere on a page.
          keymap.of([...yUndoManagerKeymap, ...defaultKeymap]),
          lineNumbers(),
          EditorView.lineWrapping,
          placeholder('Write here, and in another tab.'),
          EditorView.contentAttributes.of({ 'aria-label': 'The text', spellcheck: 'true' }),
          this.#access.of([]),
        ],
      }),
    });
  }

  /** What is written from now on would reach nobody. */
  close(): void {
    if (this.#view.state.readOnly) return;
    const closed = [EditorState.readOnly.of(true), EditorView.editable.of(false)];
    this.#view.dispatch({ effects: this.#access.reconfigure(closed) });
  }
}
