import { expect, it } from 'vitest';
import type { MachineEvent } from '../../src/machine/effect.ts';
import { member } from './scripted-machine.ts';
import { stage } from './stage.ts';
import { settle } from './virtual-host.ts';

function message(channel: string, data: Uint8Array): MachineEvent & { type: 'message' } {
  return { type: 'message', channel, from: member('other'), data, epoch: 0 };
}

it('is the same object for the same name', () => {
  const { channels } = stage();
  expect(channels.channel('work')).toBe(channels.channel('work'));
  expect(channels.channel('work')).not.toBe(channels.channel('play'));
});

it('gives what came early to its first listener, in order, before what comes later', async () => {
  const { channels } = stage();
  const seen: number[] = [];
  channels.deliver(message('work', Uint8Array.of(1)));
  const channel = channels.channel('work');
  channels.deliver(message('work', Uint8Array.of(2)));
  channels.deliver(message('play', Uint8Array.of(9)));
  channel.addEventListener('message', ({ data }) => seen.push(data[0] ?? 0));
  channels.deliver(message('work', Uint8Array.of(3)));
  expect(seen).toEqual([]);
  await settle();
  channels.deliver(message('work', Uint8Array.of(4)));
  expect(seen).toEqual([1, 2, 3, 4]);
});

it('M11: what waits for a listener is bounded over all channels, and room comes back', async () => {
  const { channels } = stage();
  const large = new Uint8Array(100 * 1024);
  expect(channels.deliver(message('a', large))).toBe(true);
  expect(channels.deliver(message('b', large))).toBe(true);
  expect(channels.deliver(message('c', large))).toBe(false);
  channels.channel('a').addEventListener('message', () => undefined);
  await settle();
  expect(channels.deliver(message('c', large))).toBe(true);
});

it('M11: empty messages count as well', () => {
  const { channels } = stage();
  let count = 0;
  while (count < 10_000 && channels.deliver(message(`c${count}`, new Uint8Array()))) count += 1;
  expect(count).toBe(4096);
});

it('M11: a node has at most 256 channels', () => {
  const { channels } = stage();
  for (let count = 0; count < 256; count += 1) channels.channel(`c${count}`);
  expect(() => channels.channel('one more')).toThrow(RangeError);
  expect(channels.channel('c7').name).toBe('c7');
});

it.each([
  ['sent', 'sent'],
  ['queued', 'queued'],
  ['dropped', 'dropped'],
] as const)('says %s when the transport does', (answer, result) => {
  const scene = stage();
  scene.script.reactions['channelSend'] = () => {
    scene.script.send('a ping', 'control');
    scene.script.send('the message', 'data');
  };
  scene.sendResult = answer;
  expect(scene.channels.channel('work').send('other', Uint8Array.of(1))).toBe(result);
});

it('says dropped when there is no route, and sent when nobody is there to broadcast to', () => {
  const scene = stage();
  const channel = scene.channels.channel('work');
  expect(channel.send('nobody', Uint8Array.of(1))).toBe('dropped');
  Object.assign(scene.script, { members: [member('me', 'self')] });
  expect(channel.broadcast(Uint8Array.of(1))).toBe('sent');
});

it.each([
  [new Uint8Array(16 * 1024 * 1024 + 1), RangeError, 'at most 16777216 bytes, got 16777217'],
  ['text', TypeError, 'data must be a Uint8Array, got "text"'],
  [[1], TypeError, 'data must be a Uint8Array, got an array'],
])('refuses what it cannot carry', (data, type, message) => {
  const { channels, script } = stage();
  const send = (): unknown => channels.channel('work').send('other', data as Uint8Array);
  expect(send).toThrow(type);
  expect(send).toThrow(message);
  expect(script.inputs).toEqual([]);
});

it.each([
  ['', RangeError],
  ['ä'.repeat(65), RangeError],
  ['line\nbreak', RangeError],
  [7, TypeError],
])('refuses the name %j', (name, type) => {
  const { channels } = stage();
  expect(() => channels.channel(name as string)).toThrow(type);
});
