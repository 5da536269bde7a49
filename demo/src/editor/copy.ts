import { combine, type DoyenNode, join, type Transport } from '@doyen/core';
import { tabs } from '@doyen/core/tabs';
import { webrtc } from '@doyen/webrtc';
import { type DoyenProvider, doyenProvider } from '@doyen/yjs';
import * as Y from 'yjs';
import { colourOf, nameOf } from '../name.ts';
import type { EditorAddress } from './address.ts';
import { browserKey } from './browser-key.ts';
import { Complaints } from './complaints.ts';
import { SocketCounter } from './socket-counter.ts';

/**
 * This tab's copy of the text, and all that keeps it equal to the others. Fires `change` whenever
 * something that the page shows may have changed.
 */
export class Copy extends EventTarget {
  readonly node: DoyenNode;
  readonly provider: DoyenProvider;
  readonly text: Y.Text;
  readonly complaints = new Complaints();
  readonly sockets: SocketCounter;

  static async open(address: EditorAddress): Promise<Copy> {
    const browser = browserKey();
    const node = await join({
      cluster: address.cluster,
      transport: transportTo(address),
      ...(browser !== null && { meta: { browser } }),
    });
    return new Copy(node, address);
  }

  private constructor(node: DoyenNode, address: EditorAddress) {
    super();
    this.node = node;
    const doc = new Y.Doc();
    this.text = doc.getText('text');
    this.provider = doyenProvider(doc, {
      node,
      room: address.room,
      url: address.sync,
      // Browsers that reach the server and not each other still write one text.
      fallback: true,
    });
    this.provider.awareness.setLocalStateField('user', userOf(node.id));
    this.sockets = new SocketCounter(address.counts, () => this.#changed());
    this.#listen();
  }

  /** Of the members that say so; null when one does not. */
  get browsers(): number | null {
    const keys = this.node.members.map(
      ({ meta }) => (meta as { browser?: unknown } | null)?.browser,
    );
    return keys.every((key) => typeof key === 'string') ? new Set(keys).size : null;
  }

  #listen(): void {
    const { node, provider } = this;
    const changed = () => this.#changed();
    const moved = () => {
      void this.sockets.ask();
      changed();
    };
    const events = ['memberjoin', 'membersuspect', 'memberalive', 'memberupdate'] as const;
    for (const type of events) node.addEventListener(type, changed);
    node.addEventListener('memberleave', changed);
    node.addEventListener('statechange', ({ error }) => {
      if (error) this.complaints.add(error.code, error.message);
      changed();
    });
    node.addEventListener('fault', ({ code, message }) => this.#complain(code, message));
    node.leadership.addEventListener('change', moved);
    provider.on('status', moved);
    provider.on('synced', changed);
    provider.on('unsynced', changed);
    provider.on('fault', ({ code, message }) => this.#complain(code, message));
  }

  #complain(code: string, message: string): void {
    this.complaints.add(code, message);
    this.#changed();
  }

  #changed(): void {
    this.dispatchEvent(new Event('change'));
  }
}

/** Tabs of this browser without a server, other browsers by WebRTC. */
function transportTo({ signaling }: EditorAddress): Transport {
  if (typeof RTCPeerConnection === 'undefined') return tabs();
  return combine(tabs(), webrtc({ signaling }));
}

/** As y-codemirror.next wants it. */
function userOf(id: string): Readonly<Record<'name' | 'color' | 'colorLight', string>> {
  const color = colourOf(id);
  return { name: nameOf(id), color, colorLight: color.replace(')', ' / 28%)') };
}
