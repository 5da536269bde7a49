import { expect, test } from 'vitest';
import { renderTile } from '../src/coordinator/mandelbrot.ts';
import { LARGE_PICTURE, tileArea, tileCount } from '../src/coordinator/picture.ts';

const PICTURE = { ...LARGE_PICTURE, width: 100, height: 70, tileSize: 32, iterations: 300 };

function render(tile: number, picture = PICTURE): { pixels: Uint8Array; slices: number } {
  const work = renderTile(picture, tile);
  for (let slices = 1; ; slices += 1) {
    const step = work.next();
    if (step.done) return { pixels: step.value, slices };
  }
}

test('tiles cover the picture without gap or overlap', () => {
  const covered = new Uint8Array(PICTURE.width * PICTURE.height);
  for (let tile = 0; tile < tileCount(PICTURE); tile += 1) {
    const { x, y, width, height } = tileArea(PICTURE, tile);
    for (let row = y; row < y + height; row += 1) {
      for (let column = x; column < x + width; column += 1) {
        covered[row * PICTURE.width + column] = (covered[row * PICTURE.width + column] ?? 0) + 1;
      }
    }
  }
  expect(covered.every((count) => count === 1)).toBe(true);
});

test('a tile is the same each time, and shows something', () => {
  const { pixels } = render(5);
  expect(render(5).pixels).toEqual(pixels);
  expect(pixels).toHaveLength(32 * 32);
  expect(new Set(pixels).size).toBeGreaterThan(10);
});

test('points of the set are zero, and only they', () => {
  const last = tileCount(PICTURE) - 1;
  expect(render(3).pixels.includes(0)).toBe(true);
  expect(render(last - 3).pixels.every((shade) => shade > 0)).toBe(true);
});

test('a heavy tile is computed in many slices', () => {
  const heavy = { ...PICTURE, iterations: 50_000 };
  expect(render(3, heavy).slices).toBeGreaterThan(10);
});
