import { renderTile } from './mandelbrot.ts';
import type { Picture } from './picture.ts';

/** What the page asks of its worker. */
export type WorkerRequest =
  | { readonly type: 'render'; readonly picture: Picture; readonly tile: number }
  /** A frozen page's worker stands still, too. */
  | { readonly type: 'pause' }
  | { readonly type: 'resume' };

export interface WorkerAnswer {
  readonly tile: number;
  readonly pixels: Uint8Array;
}

/** Well below 50 ms, so that `pause` and the browser get their turn in time. */
const SLICE_MS = 25;

const turn = new MessageChannel();
let endPause: (() => void) | null = null;
let paused: Promise<void> | null = null;

addEventListener('message', ({ data }: MessageEvent<WorkerRequest>) => {
  if (data.type === 'render') void answer(data.picture, data.tile);
  else if (data.type === 'pause') pause();
  else resume();
});

async function answer(picture: Picture, tile: number): Promise<void> {
  const work = renderTile(picture, tile);
  let sliceEnd = performance.now() + SLICE_MS;
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) {
      if (paused) await paused;
      const result: WorkerAnswer = { tile, pixels: step.value };
      postMessage(result, { transfer: [step.value.buffer] });
      return;
    }
    if (performance.now() < sliceEnd) continue;
    await nextTurn();
    if (paused) await paused;
    sliceEnd = performance.now() + SLICE_MS;
  }
}

/** Lets waiting messages in. A timer would be slowed down in a hidden tab. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    turn.port1.onmessage = () => resolve();
    turn.port2.postMessage(null);
  });
}

function pause(): void {
  paused ??= new Promise((resolve) => {
    endPause = resolve;
  });
}

function resume(): void {
  endPause?.();
  endPause = null;
  paused = null;
}
