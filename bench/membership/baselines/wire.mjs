/**
 * A compact encoding of flat messages, so that a baseline is not charged for a wordy one: a number
 * is a varint, a string is its length and its bytes, and one bit tells them apart.
 * @param {readonly (number | string)[]} values whole numbers from 0 and short ASCII strings
 */
export function encode(values) {
  const bytes = [];
  for (const value of values) {
    if (typeof value === 'number') writeVarint(bytes, value * 2);
    else {
      writeVarint(bytes, value.length * 2 + 1);
      for (let at = 0; at < value.length; at += 1) bytes.push(value.charCodeAt(at));
    }
  }
  return Uint8Array.from(bytes);
}

export function decode(bytes) {
  const values = [];
  let at = 0;
  while (at < bytes.length) {
    let number = 0;
    let scale = 1;
    for (; bytes[at] >= 0x80; at += 1, scale *= 0x80) number += (bytes[at] & 0x7f) * scale;
    number += bytes[at] * scale;
    at += 1;
    if (number % 2 === 0) values.push(number / 2);
    else {
      const end = at + (number - 1) / 2;
      values.push(String.fromCharCode(...bytes.subarray(at, end)));
      at = end;
    }
  }
  return values;
}

function writeVarint(bytes, number) {
  let rest = number;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
}
