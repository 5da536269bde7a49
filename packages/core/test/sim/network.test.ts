import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/testing/recorder.ts';
import { Stage, type Station } from './stage.ts';

describe('SimNetwork', () => {
  it('links all nodes, one link a pair, and tells each that discovery is over', () => {
    const stage = new Stage();
    const all = ['a', 'b', 'c'].map((id) => stage.station(id));
    stage.run(50);
    for (const { recorder } of all) {
      expect(recorder.links).toHaveLength(2);
      expect(recorder.of('discovery').at(-1)).toEqual({ type: 'discovery', pending: 0 });
    }
  });

  it('tells a lone node that it is alone', () => {
    const stage = new Stage();
    const { recorder } = stage.station('a');
    stage.run(50);
    expect(recorder.reports).toEqual([{ type: 'discovery', pending: 0 }]);
  });

  it('keeps the order of a lane whatever the latency', () => {
    const { stage, a, b } = pair();
    stage.network.latencyMs = [1, 200];
    for (let value = 0; value < 50; value += 1) a.say(value);
    stage.run(300);
    expect(b.heard()).toEqual(Array.from({ length: 50 }, (_, value) => value));
  });

  it('breaks the order of a lane when reordering, and repeats messages when duplicating', () => {
    const { stage, a, b } = pair();
    stage.network.reorderRate = 0.5;
    stage.network.duplicateRate = 0.5;
    for (let value = 0; value < 50; value += 1) a.say(value);
    stage.run(300);
    expect(b.heard().length).toBeGreaterThan(60);
    expect(new Set(b.heard()).size).toBe(50);
    expect(b.heard()).not.toEqual(b.heard().toSorted((one, two) => one - two));
  });

  it('loses about as many messages as it is told to, and counts them', () => {
    const { stage, a, b } = pair();
    stage.network.lossRate = 0.25;
    for (let round = 0; round < 400; round += 1) a.say(1);
    stage.run(50);
    expect(b.heard().length).toBeGreaterThan(260);
    expect(b.heard().length).toBeLessThan(340);
    expect(stage.network.stats('a')).toMatchObject({ messagesSent: 400, bytesSent: 400 });
    expect(stage.network.stats('a').messagesLost).toBe(400 - b.heard().length);
    expect(stage.network.stats('b').messagesReceived).toBe(b.heard().length);
  });

  it('cuts silently and also what is on its way; the link stays up and carries again', () => {
    const { stage, a, b } = pair();
    a.say(1);
    stage.run(5);
    stage.network.cut('a', 'b', false);
    stage.run(50);
    expect([a.say(2), b.say(3)]).toEqual(['sent', 'sent']);
    stage.run(50);
    expect([a.heard(), b.heard()]).toEqual([[], []]);
    stage.network.join('a', 'b');
    a.say(4);
    stage.run(50);
    expect(b.heard()).toEqual([4]);
    expect([a, b].map(({ recorder }) => recorder.of('linkDown'))).toEqual([[], []]);
  });

  it('cuts one way only if told so', () => {
    const { stage, a, b } = pair();
    stage.network.cut('a', 'b', true);
    a.say(1);
    b.say(2);
    stage.run(50);
    expect([a.heard(), b.heard()]).toEqual([[2], []]);
  });

  it('makes no link through a cut, and makes it when the cut has ended', () => {
    const stage = new Stage();
    stage.network.cut('a', 'b', true);
    const [a, b] = [stage.station('a'), stage.station('b')];
    stage.run(500);
    expect(a.recorder.links).toEqual([]);
    expect(a.recorder.of('discovery').at(-1)?.pending).toBe(1);
    stage.network.join('a', 'b');
    stage.run(50);
    for (const { recorder } of [a, b]) {
      expect(recorder.links).toHaveLength(1);
      expect(recorder.of('discovery').at(-1)?.pending).toBe(0);
    }
  });

  it('makes no link to a node that is paused, and makes it when that resumes', () => {
    const stage = new Stage();
    const a = stage.station('a');
    stage.run(50);
    a.host.pause();
    const b = stage.station('b');
    stage.run(500);
    expect(b.recorder.links).toEqual([]);
    a.host.resume(() => undefined);
    stage.network.redial();
    stage.run(50);
    expect([a, b].map(({ recorder }) => recorder.links.length)).toEqual([1, 1]);
  });

  it('closes behind what was sent before, with the hint, and reports nothing afterwards', async () => {
    const { stage, a, b } = pair();
    a.say(1, 'data');
    await a.transport.close();
    await a.transport.close();
    const count = a.recorder.reports.length;
    b.say(2);
    stage.run(50);
    expect(b.recorder.reports.slice(-3).map(word)).toEqual([1, 'closed-cleanly', 'closed']);
    expect(a.recorder.reports).toHaveLength(count);
    expect([a.say(3), stage.closed]).toEqual(['dropped', ['a']]);
  });

  it('M1: gives a restarted node new links, and ends the old one after the new one is up', () => {
    const { stage, a, b } = pair();
    a.host.stop();
    a.transport.crash();
    stage.run(100);
    expect(b.recorder.of('linkDown')).toEqual([]);
    const count = b.recorder.reports.length;
    stage.station('a');
    stage.run(100);
    expect(b.recorder.reports.slice(count).map(word)).toEqual(['linkUp', 'replaced']);
    expect(b.recorder.links).toHaveLength(1);
  });

  it('tells of proof of death to everybody who has a link', () => {
    const { stage, a, b } = pair();
    a.host.stop();
    a.transport.crash();
    a.transport.hintOthers('gone');
    expect(b.recorder.of('hint').map(({ kind }) => kind)).toEqual(['gone']);
    stage.run(1);
  });

  it('does not let two nodes share memory', () => {
    const { stage, a, b } = pair();
    const bytes = Uint8Array.of(1);
    a.transport.send(a.recorder.links[0] as string, bytes, 'control');
    bytes[0] = 9;
    stage.run(50);
    expect(b.heard()).toEqual([1]);
  });
});

function word(report: Report): string | number | undefined {
  if (report.type === 'message') return report.bytes[0];
  if (report.type === 'hint') return report.kind;
  return report.type === 'linkDown' ? report.why : report.type;
}

function pair(): { stage: Stage; a: Station; b: Station } {
  const stage = new Stage();
  const [a, b] = [stage.station('a'), stage.station('b')];
  stage.run(50);
  return { stage, a, b };
}
