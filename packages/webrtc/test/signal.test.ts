import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Attempt } from '../src/attempt.ts';
import type { Link, LinkSignal } from '../src/link.ts';
import { encodeSignal, parseCandidate, parseSignal, type Signal } from '../src/signal.ts';
import { CANDIDATE, SDP } from './fixtures.ts';

const HEADER = { attempt: 'try', from: 'b', to: 'a', seq: 0 };
const OFFER: Signal = { ...HEADER, kind: 'offer', sdp: SDP };

describe('the form of a signal', () => {
  it.each<Signal>([
    OFFER,
    { ...HEADER, kind: 'answer', sdp: SDP },
    { ...HEADER, seq: 1, kind: 'ice', candidates: [CANDIDATE] },
    { ...HEADER, kind: 'call' },
  ])('W1: a well-formed $kind passes unchanged', (signal) => {
    expect(parseSignal(encodeSignal(signal))).toEqual(signal);
  });

  it.each<readonly [string, unknown]>([
    ['no object', 'null'],
    ['no JSON', '{'],
    ['another version', JSON.stringify({ ...OFFER, v: 2 })],
    ['no attempt', JSON.stringify({ ...OFFER, v: 1, attempt: undefined })],
    ['a negative number', JSON.stringify({ ...OFFER, v: 1, seq: -1 })],
    ['an instance that is none', JSON.stringify({ ...OFFER, v: 1, from: {} })],
    ['an unknown kind', JSON.stringify({ ...OFFER, v: 1, kind: 'renegotiate' })],
    ['an sdp that is none', JSON.stringify({ ...OFFER, v: 1, sdp: 'v=0' })],
    ['a second media section', encodeSignal({ ...OFFER, sdp: `${SDP}m=audio 9 RTP/AVP 0\r\n` })],
    ['an endless sdp', encodeSignal({ ...OFFER, sdp: SDP + 'a=x\r\n'.repeat(2_000) })],
    [
      'candidates that are no list',
      JSON.stringify({ ...HEADER, v: 1, kind: 'ice', candidates: {} }),
    ],
    [
      'too many candidates',
      encodeSignal({ ...HEADER, kind: 'ice', candidates: Array(17).fill(CANDIDATE) }),
    ],
    [
      'one bad candidate',
      JSON.stringify({ ...HEADER, v: 1, kind: 'ice', candidates: [CANDIDATE, { candidate: 'x' }] }),
    ],
    ['no text', 7],
  ])('W1: a signal with %s is none', (_, data) => {
    expect(parseSignal(data)).toBeNull();
  });

  it.each([
    'candidate:1 1 udp 2122252543 192.0.2.2 44323 typ host',
    'candidate:0 1 UDP 2122252543 5c3a61d1-0ac9-4b4b-8d46-c2a8d2f2c3f7.local 44323 typ host',
    'candidate:842163049 1 udp 1677729535 203.0.113.7 46154 typ srflx raddr 0.0.0.0 rport 0 generation 0 ufrag a+/b network-cost 999',
    'candidate:1 1 tcp 1518280447 fd00::2 9 typ host tcptype active generation 0',
  ])('W1: a candidate as browsers write it passes: %s', (candidate) => {
    expect(parseCandidate({ candidate, sdpMid: '0', sdpMLineIndex: 0 })).not.toBeNull();
  });

  it.each([
    '',
    'candidate:',
    'candidate:1 1 udp 2122252543 192.0.2.2 44323 typ host\r\na=evil',
    'candidate:1 9 udp 2122252543 192.0.2.2 44323 typ host',
    'candidate:1 1 udp x 192.0.2.2 44323 typ host',
    `candidate:1 1 udp 1 192.0.2.2 44323 typ host ${'x'.repeat(600)}`,
  ])('W1: anything else is no candidate: %j', (candidate) => {
    expect(parseCandidate({ candidate, sdpMid: '0', sdpMLineIndex: 0 })).toBeNull();
  });

  it('W1: no text whatever throws, or passes as a signal with fields of another type', () => {
    const field = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('a', 0, 'ice', 'offer', SDP, [CANDIDATE]),
    );
    const keys = ['attempt', 'from', 'to', 'seq', 'kind', 'sdp', 'candidates'] as const;
    const shape = Object.fromEntries(keys.map((key) => [key, field]));
    fc.assert(
      fc.property(fc.record({ v: fc.constant(1), ...shape }, { requiredKeys: [] }), (value) => {
        const signal = parseSignal(JSON.stringify(value));
        if (signal) expect(parseSignal(encodeSignal(signal))).toEqual(signal);
      }),
    );
  });
});

describe('the gate before the connection', () => {
  function gate(isOffer: boolean) {
    const reached: string[] = [];
    const link = { signal: ({ type }: LinkSignal) => reached.push(type) } as unknown as Link;
    const options = {
      id: 'try',
      route: 'r',
      isOffer,
      self: 'a',
      other: 'b',
      post: () => undefined,
    };
    return { attempt: new Attempt(options, () => link), reached };
  }
  const answer: Signal = { ...HEADER, kind: 'answer', sdp: SDP };
  const ice = (seq: number): Signal => ({ ...HEADER, seq, kind: 'ice', candidates: [CANDIDATE] });

  it('W1: a description, then its candidates, reach the connection', () => {
    const { attempt, reached } = gate(false);
    for (const signal of [OFFER, ice(1), ice(3)]) attempt.receive('r', signal);
    expect(reached).toEqual(['offer', 'candidate', 'candidate']);
  });

  it.each<readonly [string, boolean, string, readonly Signal[]]>([
    ['from another route', false, 'other', [OFFER]],
    ['of another attempt', false, 'r', [{ ...OFFER, attempt: 'old' }]],
    ['from another instance', false, 'r', [{ ...OFFER, from: 'c' }]],
    ['to another instance', false, 'r', [{ ...OFFER, to: 'c' }]],
    ['with an answer to an answerer', false, 'r', [answer]],
    ['with an offer to the end that offers', true, 'r', [OFFER]],
    ['with candidates before the description', false, 'r', [ice(0)]],
  ])('W1: a signal %s does not reach the connection', (_, isOffer, route, signals) => {
    const { attempt, reached } = gate(isOffer);
    for (const signal of signals) attempt.receive(route, signal);
    expect(reached).toEqual([]);
  });

  it('W1: duplicates, late ones and second descriptions do not reach the connection', () => {
    const { attempt, reached } = gate(true);
    const signals = [answer, answer, ice(2), ice(2), ice(1), { ...answer, seq: 3 }];
    for (const signal of signals) attempt.receive('r', signal);
    expect(reached).toEqual(['answer', 'candidate']);
  });

  it('W1: nothing reaches a connection whose set-up is over', () => {
    const { attempt, reached } = gate(true);
    attempt.receive('r', answer);
    attempt.end();
    attempt.receive('r', ice(1));
    expect(reached).toEqual(['answer']);
  });

  it('W1: candidates without end do not reach the connection', () => {
    const { attempt, reached } = gate(true);
    attempt.receive('r', answer);
    for (let seq = 1; seq < 1_000; seq += 1) attempt.receive('r', ice(seq));
    expect(reached.length).toBe(101);
  });
});
