import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

export default defineConfig(({ command }) => ({
  // The dev server shows the packages' sources; the built page uses them as they are published.
  resolve:
    command === 'serve'
      ? { conditions: ['doyen-source', 'module', 'browser', 'development|production'] }
      : {},
  build: {
    target: 'es2022',
    rolldownOptions: { input: ['index.html', 'editor.html'].map((page) => here(page)) },
  },
}));
