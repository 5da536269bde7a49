import type { Host } from './host.ts';

/** A random name of `length` lower-case letters and digits: 5.17 bits each. */
export function uid(host: Host, length: number): string {
  let name = '';
  while (name.length < length) name += ALPHABET[Math.floor(host.random() * ALPHABET.length)];
  return name;
}

// Safe in every place that ids travel: URLs, lock names, file names.
const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
