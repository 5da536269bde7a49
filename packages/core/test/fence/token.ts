import type { Token } from '../../src/fence/index.ts';

export function token(epoch: number, holder = 'x', cluster = 'c'): Token {
  return { cluster, epoch, holder };
}
