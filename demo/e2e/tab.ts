import { expect, type Page } from '@playwright/test';
import type { Progress } from '../src/coordinator/checkpoint.ts';

export interface Leadership {
  readonly leader: string | null;
  readonly epoch: number;
}

/** One tab of the demo, with the questions that tests ask it. */
export class Tab {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** Resolves when the node exists. */
  async opened(): Promise<this> {
    await this.page.waitForFunction(() => globalThis.doyen !== undefined);
    return this;
  }

  id(): Promise<string> {
    return this.page.evaluate(() => globalThis.doyen?.id ?? '');
  }

  leadership(): Promise<Leadership> {
    return this.page.evaluate(() => {
      const leadership = globalThis.doyen?.leadership;
      return { leader: leadership?.current?.id ?? null, epoch: leadership?.epoch ?? 0 };
    });
  }

  isLeader(): Promise<boolean> {
    return this.page.evaluate(() => globalThis.doyen?.leadership.isSelf ?? false);
  }

  /** Ids of all members, this tab's included. */
  members(): Promise<string[]> {
    return this.page.evaluate(() => globalThis.doyen?.members.map(({ id }) => id) ?? []);
  }

  /** How this tab reaches a member. */
  linkTo(id: string): Promise<string | undefined> {
    return this.page.evaluate(
      (wanted) => globalThis.doyen?.members.find((member) => member.id === wanted)?.link,
      id,
    );
  }

  progress(): Promise<Progress> {
    return this.page.evaluate(() => globalThis.doyenDemo.progress());
  }

  click(name: string): Promise<void> {
    return this.page.getByRole('button', { name, exact: true }).click();
  }

  /** What is on the canvas, as text that can be compared. */
  picture(): Promise<string> {
    return this.page.evaluate(() =>
      document.querySelector<HTMLCanvasElement>('#canvas')?.toDataURL(),
    ) as Promise<string>;
  }

  async hasDone(tiles: number): Promise<void> {
    await expect.poll(async () => (await this.progress()).done).toBeGreaterThanOrEqual(tiles);
  }

  async hasCompleted(): Promise<Progress> {
    await expect
      .poll(
        async () => {
          const { done, total } = await this.progress();
          return total > 0 && done === total;
        },
        { timeout: 50_000 },
      )
      .toBe(true);
    return this.progress();
  }

  /** Ends the tab's process, and proves that it did. */
  async crashRenderer(): Promise<void> {
    const crashed = this.page.waitForEvent('crash');
    const devtools = await this.page.context().newCDPSession(this.page);
    // Answered by the end of the connection only; the event proves that it worked.
    devtools.send('Page.crash').catch((error: Error) => error);
    await crashed;
  }
}
