import type { Locator } from '@playwright/test';
import { Tab } from './tab.ts';

/** One tab of the editor, with the questions that tests ask it. */
export class EditorTab extends Tab {
  get area(): Locator {
    return this.page.getByRole('textbox', { name: 'The text' });
  }

  /** Resolves when the page has taken all keys. */
  async type(text: string): Promise<void> {
    await this.area.focus();
    await this.page.keyboard.type(text);
  }

  text(): Promise<string> {
    return this.page.evaluate(() => globalThis.doyenText?.text.toString() ?? '');
  }

  /** What a reader sees, without the cursors of others. */
  lines(): Promise<string[]> {
    return this.area.locator('.cm-line').evaluateAll((lines) =>
      lines.map((line) => {
        const copy = line.cloneNode(true) as Element;
        for (const cursor of copy.querySelectorAll('.cm-ySelectionCaret')) cursor.remove();
        return copy.textContent ?? '';
      }),
    );
  }

  /** The server has confirmed all that was written here, and this copy has all of the server's. */
  isSaved(): Promise<boolean> {
    return this.page.evaluate(() => {
      const { provider } = globalThis.doyenText ?? {};
      return provider?.synced === true && provider.unsynced === 0;
    });
  }

  /** As the others see it at this tab's cursor. */
  name(): Promise<string> {
    return this.page.evaluate(
      () => globalThis.doyenText?.provider.awareness.getLocalState()?.['user'].name ?? '',
    );
  }

  /** Sockets at the server, as the page shows them. */
  async sockets(): Promise<string> {
    const count = await this.page.locator('#sockets').textContent();
    return `${count}: ${await this.page.locator('#socket-kinds').textContent()}`;
  }

  /** Whose cursors the page shows. */
  cursors(): Promise<string[]> {
    return this.page.locator('.cm-ySelectionInfo').allTextContents();
  }
}
