import { defineConfig } from 'vitest/config';

// Apart from the unit tests: these run whole stories of many processes, with the built packages.
export default defineConfig({
  test: {
    root: new URL('.', import.meta.url).pathname,
    include: ['*/test/*.test.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
