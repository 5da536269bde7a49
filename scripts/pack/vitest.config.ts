import { defineConfig } from 'vitest/config';

// Apart from the unit tests: these use the built packages, and npm, and take seconds each.
export default defineConfig({
  test: {
    root: new URL('.', import.meta.url).pathname,
    include: ['*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
