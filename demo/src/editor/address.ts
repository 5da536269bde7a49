import { nameIn, socketUrl } from '../address.ts';

/** What the editor's own address says. All of it is on the page's own server. */
export interface EditorAddress {
  /** Another one than that of the picture: a leader that has not opened the text syncs nobody. */
  readonly cluster: string;
  /** Name of the text: the part after `#`, else `demo`. */
  readonly room: string;
  readonly signaling: string;
  /** The y-websocket server. */
  readonly sync: string;
  /** Where the server tells what is connected to the text. */
  readonly counts: string;
}

export function readEditorAddress(url: URL): EditorAddress {
  const room = nameIn(url);
  return {
    cluster: `text of ${room}`,
    room,
    signaling: socketUrl(url, 'v1'),
    sync: socketUrl(url, 'sync'),
    counts: `${url.origin}/sync/${room}`,
  };
}
