type Colour = readonly [red: number, green: number, blue: number];

/** From far outside the set to its very edge. */
const STOPS: readonly (readonly [at: number, Colour])[] = [
  [0.12, [14, 22, 60]],
  [0.3, [32, 92, 178]],
  [0.42, [122, 190, 240]],
  [0.5, [250, 248, 230]],
  [0.6, [250, 180, 60]],
  [0.75, [176, 56, 36]],
  [1, [40, 10, 40]],
];
const INSIDE: Colour = [10, 11, 22];

const COLOURS = Array.from({ length: 256 }, (_, shade) =>
  shade === 0 ? INSIDE : mix(shade / 255),
);

/** Colours of a tile: four bytes a pixel, as a canvas wants them. */
export function colourise(shades: Uint8Array): Uint8ClampedArray<ArrayBuffer> {
  const rgba = new Uint8ClampedArray(shades.length * 4);
  shades.forEach((shade, index) => {
    const [red, green, blue] = COLOURS[shade] ?? INSIDE;
    rgba.set([red, green, blue, 255], index * 4);
  });
  return rgba;
}

function mix(at: number): Colour {
  const next = STOPS.findIndex(([stop]) => stop >= at);
  const [high, highColour] = STOPS[Math.max(next, 1)] ?? [1, INSIDE];
  const [low, lowColour] = STOPS[Math.max(next, 1) - 1] ?? [0, INSIDE];
  const share = Math.min(1, Math.max(0, (at - low) / (high - low)));
  const channel = (index: 0 | 1 | 2) =>
    Math.round(lowColour[index] + (highColour[index] - lowColour[index]) * share);
  return [channel(0), channel(1), channel(2)];
}
