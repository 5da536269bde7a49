import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';

/** Without one of its own, a machine gets Playwright's browser. */
const chromium = [process.env['DOYEN_CHROMIUM'], '/usr/bin/chromium'].find(
  (file) => file !== undefined && existsSync(file),
);

export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results',
  globalSetup: './e2e/build.ts',
  // Real tabs that compute: two tests at a time would only slow each other down.
  workers: 1,
  timeout: 90_000,
  // Order is asserted and not time: this is how long a loaded machine may take.
  expect: { timeout: 30_000 },
  reporter: process.env['PLAYWRIGHT_JSON_OUTPUT_NAME'] ? [['list'], ['json']] : [['list']],
  use: {
    launchOptions: {
      ...(chromium === undefined ? {} : { executablePath: chromium }),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
});
