/**
 * What two ends tell each other through the signaling server to make one link. `attempt` names one
 * try, `from` and `to` are instances, `seq` counts the signals of one sender within the attempt.
 */
export type Signal = Header & (Description | Candidates | Call);

interface Header {
  readonly attempt: string;
  readonly from: string;
  readonly to: string;
  readonly seq: number;
}

interface Description {
  readonly kind: 'offer' | 'answer';
  readonly sdp: string;
}

interface Candidates {
  readonly kind: 'ice';
  readonly candidates: readonly Candidate[];
}

/** "I have no link to you": the end that does not offer asks the other to. */
interface Call {
  readonly kind: 'call';
}

/** One ICE candidate, as browsers write it. */
export interface Candidate {
  readonly candidate: string;
  readonly sdpMid: string | null;
  readonly sdpMLineIndex: number | null;
}

export function encodeSignal(signal: Signal): string {
  return JSON.stringify({ v: VERSION, ...signal });
}

/**
 * The signal in `data`, copied field by field, or null when it is none. simple-peer destroys a
 * working connection on input that it does not understand, so what passes here is well formed to
 * the letter.
 */
export function parseSignal(data: unknown): Signal | null {
  if (typeof data !== 'string' || data.length > SIGNAL_LENGTH_MAX) return null;
  const value = parseObject(data);
  if (value?.['v'] !== VERSION) return null;
  const { attempt, from, to, seq } = value;
  if (!isName(attempt) || !isName(from) || !isName(to) || !isIndex(seq)) return null;
  const header = { attempt, from, to, seq };
  const { kind, sdp, candidates } = value;
  if (kind === 'call') return { ...header, kind };
  if (kind === 'offer' || kind === 'answer') return isSdp(sdp) ? { ...header, kind, sdp } : null;
  const list = kind === 'ice' ? parseCandidates(candidates) : null;
  return list && { ...header, kind: 'ice', candidates: list };
}

/** The candidate in `value`, or null. */
export function parseCandidate(value: unknown): Candidate | null {
  if (typeof value !== 'object' || value === null) return null;
  const { candidate, sdpMid = null, sdpMLineIndex = null } = value as Record<string, unknown>;
  if (typeof candidate !== 'string' || candidate.length > CANDIDATE_LENGTH_MAX) return null;
  if (!CANDIDATE.test(candidate)) return null;
  if (sdpMid !== null && (typeof sdpMid !== 'string' || sdpMid.length > 16)) return null;
  if (sdpMLineIndex !== null && sdpMLineIndex !== 0) return null;
  if (sdpMid === null && sdpMLineIndex === null) return null;
  return { candidate, sdpMid, sdpMLineIndex };
}

export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Whether `value` can be an instance or an attempt id. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= NAME_LENGTH_MAX;
}

function parseCandidates(value: unknown): readonly Candidate[] | null {
  if (!Array.isArray(value) || value.length > CANDIDATES_MAX) return null;
  const candidates = value.map(parseCandidate);
  return candidates.every((candidate) => candidate !== null) ? candidates : null;
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** One data section, nothing else: all that a link ever negotiates. */
function isSdp(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= SDP_LENGTH_MAX &&
    value.startsWith('v=0\r\n') &&
    String(value.match(/^m=\w+/gm)) === 'm=application'
  );
}

/** More than one message holds is sent as several. */
export const CANDIDATES_MAX = 16;

const VERSION = 1;
/** Ids of nodes and instances have at most 128 bytes. */
const NAME_LENGTH_MAX = 128;
/** The server takes 12 KiB of data in a signal. */
const SIGNAL_LENGTH_MAX = 12 * 1024;
/** A description of one data section has some 600 characters, with its candidates a few thousand. */
const SDP_LENGTH_MAX = 8 * 1024;
const CANDIDATE_LENGTH_MAX = 512;

// RFC 8839 §5.1: foundation, component, transport, priority, address, port, type, extensions.
const CANDIDATE =
  /^candidate:[\w+/]{1,32} [12] (?:udp|tcp) \d{1,10} [\w.:%-]{1,255} \d{1,5} typ (?:host|srflx|prflx|relay)(?: [\x21-\x7e]+)*$/i;
