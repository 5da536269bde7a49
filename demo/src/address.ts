import { LARGE_PICTURE, type Picture, parsePicture } from './coordinator/picture.ts';

/** What the page's own address says. */
export interface Address {
  /** Name of the cluster: the part after `#`, else `demo`. */
  readonly cluster: string;
  /** The same server, so that one printed URL is all that a second device needs. */
  readonly signaling: string;
  /** The picture that this tab begins when nobody has one. */
  readonly picture: Picture;
}

/** Enough for a failover in a test, done in a few seconds by one tab. */
const SMALL_PICTURE: Picture = { ...LARGE_PICTURE, width: 256, height: 192, tileSize: 32 };

/**
 * `?picture=small` begins a small picture; `width`, `height`, `tile` and `iterations` change single
 * numbers of it. A picture that is out of bounds is replaced by the default one.
 */
export function readAddress(url: URL): Address {
  return {
    cluster: nameIn(url),
    signaling: socketUrl(url, 'v1'),
    picture: pictureOf(url.searchParams),
  };
}

/** The part after `#`, else `demo`. */
export function nameIn({ hash }: URL): string {
  const name = hash.replace(/^#/, '').replace(/[^\w.-]/g, '');
  return name.slice(0, 64) || 'demo';
}

/** Where the page's own server takes WebSockets. */
export function socketUrl({ protocol, host }: URL, path: string): string {
  return `${protocol === 'https:' ? 'wss' : 'ws'}://${host}/${path}`;
}

function pictureOf(parameters: URLSearchParams): Picture {
  const preset = parameters.get('picture') === 'small' ? SMALL_PICTURE : LARGE_PICTURE;
  const number = (name: string, otherwise: number) => Number(parameters.get(name) ?? otherwise);
  const wanted = {
    ...preset,
    width: number('width', preset.width),
    height: number('height', preset.height),
    tileSize: number('tile', preset.tileSize),
    iterations: number('iterations', preset.iterations),
  };
  return parsePicture(wanted) ?? preset;
}
