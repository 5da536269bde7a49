import { defineConfig } from 'vite';

export default defineConfig(({ command }) => ({
  // The dev server shows the packages' sources; the built page uses them as they are published.
  resolve:
    command === 'serve'
      ? { conditions: ['doyen-source', 'module', 'browser', 'development|production'] }
      : {},
  build: { target: 'es2022' },
}));
