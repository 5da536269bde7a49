import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { playScenario } from './scenario.ts';

// `npx vitest run packages/core/test/sim/scenarios.test.ts -u` writes the traces anew. Do that only
// when you can say why each changed line is right.

const folder = new URL('../../scenarios/', import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith('.txt'));

describe('scenarios', () => {
  it('are there', () => {
    expect(names.length).toBeGreaterThan(7);
  });

  for (const name of names) {
    const text = readFileSync(new URL(name, folder), 'utf8');
    it(text.split('\n')[0]?.replace(/^#\s*/, '') ?? name, async () => {
      await expect(await playScenario(text)).toMatchFileSnapshot(`../../scenarios/${name}`);
    });
  }
});
