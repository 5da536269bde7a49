import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Tests run the sources: the packages' exports name them under this condition.
  resolve: { conditions: ['doyen-source'] },
  ssr: { resolve: { conditions: ['doyen-source'] } },
  test: {
    include: [
      'packages/*/test/**/*.test.ts',
      'scripts/test/**/*.test.ts',
      'demo/test/**/*.test.ts',
      'bench/**/test/**/*.test.ts',
    ],
    // Native WebRTC for Node crashes in worker threads; child processes are safe.
    pool: 'forks',
    maxWorkers: 2,
    // A guard against hanging, not a measure: shared machines are slow at times.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
