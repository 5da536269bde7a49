import { html, keyed, setText } from '../view/element.ts';
import type { Complaint } from './complaints.ts';

/** What did not work, in words. */
export class ComplaintList {
  readonly #root: HTMLElement;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  show(complaints: readonly Complaint[]): void {
    const keys = complaints.map(({ at, code, times }) => `${at.getTime()} ${code} ${times}`);
    const rows = keyed(this.#root, keys, () =>
      html('li', {}, html('time'), html('b'), html('span')),
    );
    complaints.forEach(({ at, code, message, times }, index) => {
      const [time, name, text] = rows[index]?.children ?? [];
      if (time) setText(time, at.toLocaleTimeString([], { hour12: false }));
      if (name) setText(name, times > 1 ? `${code} ×${times}` : code);
      if (text) setText(text, message);
    });
  }
}
