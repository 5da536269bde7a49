import { expect, test } from 'vitest';
import { readAddress } from '../src/address.ts';
import { LARGE_PICTURE } from '../src/coordinator/picture.ts';

const read = (url: string) => readAddress(new URL(url));

test('the signaling server is the one that served the page', () => {
  expect(read('http://192.168.1.5:5173/').signaling).toBe('ws://192.168.1.5:5173/v1');
  expect(read('https://demo.example/').signaling).toBe('wss://demo.example/v1');
});

test('the part after # names the cluster, as far as it may be a name', () => {
  expect(read('http://a/').cluster).toBe('demo');
  expect(read('http://a/#orders-2').cluster).toBe('orders-2');
  expect(read('http://a/#a!b/c').cluster).toBe('abc');
  expect(read(`http://a/#${'x'.repeat(500)}`).cluster).toHaveLength(64);
});

test('single numbers of the picture can be given', () => {
  expect(read('http://a/').picture).toEqual(LARGE_PICTURE);
  const { picture } = read('http://a/?picture=small&iterations=7&tile=16');
  expect(picture).toEqual({
    ...LARGE_PICTURE,
    width: 256,
    height: 192,
    tileSize: 16,
    iterations: 7,
  });
});

test.each(['width=1', 'width=1e9', 'tile=0', 'iterations=-1', 'iterations=x', 'height='])(
  'a picture that is out of bounds is not begun: %s',
  (query) => {
    expect(read(`http://a/?${query}`).picture).toEqual(LARGE_PICTURE);
  },
);
