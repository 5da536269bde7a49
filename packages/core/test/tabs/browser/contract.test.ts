import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transportContract } from '../../../src/testing/index.ts';
import type { TestPage } from './app/main.ts';
import { type Lab, openLab } from './lab.ts';

declare const page: TestPage;

describe('tabs transport in Chromium', () => {
  let lab: Lab;
  let tab: Page;

  beforeAll(async () => {
    lab = await openLab();
    tab = await lab.open();
  });

  afterAll(() => lab.close());

  // The titles are taken from here, the tests run in the page.
  transportContract({
    suite: {
      describe,
      it: (title, _body, timeoutMs) => {
        const run = async () => {
          await tab.evaluate((name) => {
            const test = page.contract.get(name);
            if (!test) throw new Error(`The page has no test "${name}".`);
            return test();
          }, title);
          expect(lab.pageErrors).toEqual([]);
        };
        it(title, run, timeoutMs);
      },
    },
    setup: () => {
      throw new Error('these tests run in a page');
    },
    capabilities: { maxBytes: 16 * 1024 * 1024 },
  });
});
