import { type Picture, tileArea } from './picture.ts';

/** The part of the plane that the picture shows. */
const VIEW = { centreX: -0.7495, centreY: 0.1125, width: 0.03 };
/** Each pixel is the mean of 2 × 2 points: smoother edges for four times the work. */
const SAMPLES_PER_SIDE = 2;
/** A far escape radius makes the fractional step count accurate. */
const ESCAPE_RADIUS_SQUARED = 256;
/** A few milliseconds of work on a laptop: how often the caller may look at the clock. */
const STEPS_PER_SLICE = 1_000_000;

/**
 * Computes one tile in slices: yields every few milliseconds and returns one byte a pixel, 0 for
 * points of the set, else 1 to 255, the higher the later the point escapes.
 */
export function* renderTile(picture: Picture, tile: number): Generator<void, Uint8Array, void> {
  const area = tileArea(picture, tile);
  const pixels = new Uint8Array(area.width * area.height);
  let steps = 0;
  for (let index = 0; index < pixels.length; index += 1) {
    const x = area.x + (index % area.width);
    const y = area.y + Math.floor(index / area.width);
    const sum = { shade: 0, steps: 0 };
    addPixel(picture, x, y, sum);
    pixels[index] = Math.round(sum.shade / SAMPLES_PER_SIDE ** 2);
    steps += sum.steps;
    if (steps >= STEPS_PER_SLICE) {
      steps = 0;
      yield;
    }
  }
  return pixels;
}

function addPixel(picture: Picture, x: number, y: number, sum: { shade: number; steps: number }) {
  const pixelWidth = VIEW.width / picture.width;
  for (let sample = 0; sample < SAMPLES_PER_SIDE ** 2; sample += 1) {
    const offsetX = ((sample % SAMPLES_PER_SIDE) + 0.5) / SAMPLES_PER_SIDE;
    const offsetY = (Math.floor(sample / SAMPLES_PER_SIDE) + 0.5) / SAMPLES_PER_SIDE;
    const re = VIEW.centreX + (x + offsetX - picture.width / 2) * pixelWidth;
    const im = VIEW.centreY - (y + offsetY - picture.height / 2) * pixelWidth;
    const steps = escapeSteps(re, im, picture.iterations);
    sum.shade += shade(steps, picture.iterations);
    sum.steps += steps;
  }
}

/** Steps until the point escapes, with a fraction; `iterations` when it does not. */
function escapeSteps(re: number, im: number, iterations: number): number {
  let x = 0;
  let y = 0;
  for (let step = 0; step < iterations; step += 1) {
    const xx = x * x;
    const yy = y * y;
    if (xx + yy > ESCAPE_RADIUS_SQUARED) {
      return Math.max(0, step + 1 - Math.log2(Math.log2(xx + yy) / 2));
    }
    y = 2 * x * y + im;
    x = xx - yy + re;
  }
  return iterations;
}

function shade(steps: number, iterations: number): number {
  if (steps >= iterations) return 0;
  return 1 + 254 * (Math.log1p(steps) / Math.log1p(iterations));
}
