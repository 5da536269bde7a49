import { create } from 'lib0/prng';

/** A seeded source of numbers, uniform in [0, 1). */
export type Random = () => number;

/** One source for one purpose: drawing from it does not shift what another purpose draws. */
export function seededRandom(seed: number, purpose: number): Random {
  // Weyl steps of the golden ratio set neighbouring seeds and purposes far apart. The generator
  // wants a positive seed; its first numbers still look alike for like seeds, so they are passed.
  const mixed = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(purpose + 1, 0x85ebca77)) >>> 0;
  const generator = create(mixed === 0 ? 1 : mixed);
  for (let round = 0; round < 8; round += 1) generator.next();
  return () => generator.next();
}

/** A number of the range, whole if both ends are. */
export function between(random: Random, [low, high]: readonly [number, number]): number {
  if (Number.isInteger(low) && Number.isInteger(high)) {
    return low + Math.floor(random() * (high - low + 1));
  }
  return low + random() * (high - low);
}
