import { DoyenError } from '../runtime/error.ts';
import { shown } from '../runtime/options.ts';
import { checkToken, type Token } from './token.ts';

/** What a client asks of a fence: to be opened, to let an effect happen, or for its mark. */
export type FenceRequest =
  | { readonly type: 'open' | 'admit'; readonly token: Token }
  | { readonly type: 'high' };

/** Carries the {@link FenceRequest}: `cluster=orders; epoch=7; holder=x`, then perhaps `; open`. */
export const FENCE_HEADER = 'doyen-fence';
/** Epoch of the mark, in answers. */
export const HIGH_HEADER = 'doyen-fence-high';
/** Why a guard has refused a request: a verdict, or the code of an error. Nothing changed then. */
export const REFUSED_HEADER = 'doyen-fence-refused';

/** The value of the header. Header fields are ASCII, names need not be. */
export function fenceHeader(request: FenceRequest): string {
  if (request.type === 'high') return 'high';
  const { cluster, epoch, holder } = request.token;
  const token = `cluster=${encodeURIComponent(cluster)}; epoch=${epoch}; holder=${encodeURIComponent(holder)}`;
  return request.type === 'open' ? `${token}; open` : token;
}

/**
 * What the header asks for.
 * @throws DoyenError `bad-token` when it is not exactly of the form that `fenceHeader` gives.
 */
export function parseFenceHeader(header: string): FenceRequest {
  if (header === 'high') return { type: 'high' };
  const parts = header.length <= HEADER_LENGTH_MAX ? FORM.exec(header) : null;
  if (!parts) {
    const message = `${FENCE_HEADER} must be 'cluster=…; epoch=…; holder=…', got ${shown(header)}`;
    throw new DoyenError('bad-token', message);
  }
  const [, cluster = '', epoch, holder = '', open] = parts;
  const token = { cluster: decoded(cluster), epoch: Number(epoch), holder: decoded(holder) };
  return { type: open ? 'open' : 'admit', token: checkToken(token) };
}

/** Text that cannot be decoded becomes empty, which no name is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

const FORM = /^cluster=([^;\s]+); epoch=(\d{1,16}); holder=([^;\s]+)(; open)?$/;
// Two names of 128 bytes, each byte as %XX, and the rest.
const HEADER_LENGTH_MAX = 1024;
