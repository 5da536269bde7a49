import { type FaultyTransport, faults, transportContract } from '@doyen/core/testing';
import { describe, expect, it } from 'vitest';
import { Recorder, type Report } from '../../src/testing/recorder.ts';
import { MemoryNetwork, memory } from '../../src/transport/memory.ts';

describe('faults', () => {
  transportContract({
    suite: { describe, it },
    setup: () => {
      const network = new MemoryNetwork();
      return { transport: () => faults(memory({ network })) };
    },
    capabilities: { maxBytes: 16 * 1024 * 1024 },
  });

  it('a cut drops both directions silently, until it is joined', async () => {
    const { a, b } = await pair();
    a.faulty.cut('b');
    expect(a.say(1)).toBe('sent');
    expect(b.say(2)).toBe('sent');
    await delivered();
    expect([a.heard(), b.heard()]).toEqual([[], []]);
    expect(a.recorder.links).toHaveLength(1);
    a.faulty.join('b');
    a.say(3);
    b.say(4);
    await delivered();
    expect([a.heard(), b.heard()]).toEqual([[4], [3]]);
  });

  it('a one-way cut drops only what goes to the member', async () => {
    const { a, b } = await pair();
    a.faulty.cut('b', { oneWay: true });
    a.say(1);
    b.say(2);
    await delivered();
    expect([a.heard(), b.heard()]).toEqual([[2], []]);
  });

  it('a cut names a member or one link', async () => {
    const { a, b } = await pair();
    a.faulty.cut(a.recorder.links[0] as string);
    a.say(1);
    await delivered();
    expect(b.heard()).toEqual([]);
  });

  it('a crashed node neither sends nor hears, and the others are told nothing', async () => {
    const { a, b } = await pair();
    const before = b.recorder.reports.length;
    a.faulty.crash();
    a.say(1);
    b.say(2);
    await delivered();
    expect(a.heard()).toEqual([]);
    expect(b.recorder.reports).toHaveLength(before);
    expect(a.faulty.condition).toBe('crashed');
  });

  it('what the node says when it is told of the freeze still goes out', async () => {
    const { a, b } = await pair((recorder, faulty) => {
      recorder.lifecycle = (kind) => {
        if (kind === 'freeze')
          faulty.send(recorder.links[0] as string, Uint8Array.of(9), 'control');
      };
    });
    a.faulty.freeze();
    a.say(1);
    await delivered();
    expect(b.heard()).toEqual([9]);
  });

  it('a thawed node is told so first, then hears what was held, then its late words go out', async () => {
    const { a, b } = await pair();
    a.faulty.freeze();
    const before = a.recorder.reports.length;
    a.say(1);
    for (const value of [5, 6, 7]) b.say(value);
    await delivered();
    expect([a.heard(), b.heard()]).toEqual([[], []]);
    a.faulty.thaw();
    await delivered();
    expect(a.recorder.reports.slice(before).map(word)).toEqual(['resume', 5, 6, 7]);
    expect(b.heard()).toEqual([1]);
  });

  it('a link that comes up while frozen is reported at thaw', async () => {
    const { a, network } = await pair();
    a.faulty.freeze();
    const third = actor(network, 'c');
    await delivered();
    expect(a.recorder.links).toHaveLength(1);
    a.faulty.thaw();
    expect(a.recorder.links).toHaveLength(2);
    await third.faulty.close();
  });

  it('M11: what is held while frozen is bounded, and the loss is told', async () => {
    const { a, b } = await pair();
    a.faulty.freeze();
    for (let index = 0; index < 17_000; index += 1) b.say(index & 255);
    await delivered();
    a.faulty.thaw();
    expect(a.heard()).toHaveLength(16_384);
    expect(a.recorder.of('fault').map(({ code }) => code)).toEqual(['held-overflow']);
  });
});

function word(report: Report): string | number | undefined {
  if (report.type === 'message') return report.bytes[0];
  return report.type === 'lifecycle' ? report.kind : report.type;
}

type Prepare = (recorder: Recorder, faulty: FaultyTransport) => void;

function actor(network: MemoryNetwork, id: string, prepare?: Prepare) {
  const faulty = faults(memory({ network }));
  const recorder = new Recorder();
  prepare?.(recorder, faulty);
  const { signal } = new AbortController();
  faulty.start(recorder, { cluster: 'faults', id, instance: `${id}-1`, signal });
  return {
    faulty,
    recorder,
    say: (value: number) => {
      return faulty.send(recorder.links[0] as string, Uint8Array.of(value), 'control');
    },
    heard: () => recorder.of('message').map(({ bytes }) => bytes[0]),
  };
}

async function pair(prepareA?: Prepare) {
  const network = new MemoryNetwork();
  const [a, b] = [actor(network, 'a', prepareA), actor(network, 'b')];
  await delivered();
  return { network, a, b };
}

/** Memory links deliver in microtasks: one macrotask later everything has arrived. */
function delivered(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
