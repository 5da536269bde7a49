import { type DoyenNode, join } from '@doyen/core';
import { webrtc } from '../../../src/index.ts';

/** What tests do in a page. */
const page = { join, webrtc, nodes: [] as DoyenNode[] };

export type TestPage = typeof page;

Object.assign(globalThis, { page });
