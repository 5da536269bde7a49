import { isName, parseObject } from './signal.ts';

/** What a node tells the room about itself. */
export interface Introduction {
  readonly id: string;
  readonly instance: string;
}

export function parseIntroduction(meta: string | undefined): Introduction | null {
  const { id, instance } = parseObject(meta ?? '') ?? {};
  return isName(id) && isName(instance) ? { id, instance } : null;
}
