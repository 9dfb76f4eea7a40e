import { deflateSync, inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { tiltLayer } from './tilt.ts';

/** As tesseract 5 writes it: one page of 200 by 400 points, two words on a line and one below. */
function layer(content: string): Buffer {
  const stream = deflateSync(Buffer.from(content, 'latin1'));
  const before = '%PDF-1.5\n9 0 obj\n<<\n  /Type /Page\n  /MediaBox [0 0 200.00 400.00]\n  /Contents 10 0 R\n>>\nendobj\n';
  const body = Buffer.concat([Buffer.from(`${before}10 0 obj\n<<\n  /Length ${stream.length} /Filter /FlateDecode\n>>\nstream\n`), stream, Buffer.from('\nendstream\nendobj\n')]);
  return Buffer.concat([body, Buffer.from(`xref\n0 12\ntrailer\n<<\n  /Size 12\n  /Root 1 0 R\n>>\nstartxref\n${body.length}\n%%EOF\n`)]);
}
const content = 'BT\n3 Tr 1 0 0 1 150 200 Tm /f-0-0 9 Tf 99 Tz [ <0041> ] TJ 39.24 0 Td 82 Tz [ <0047> ] TJ \n -39.24 -10 Td 90 Tz [ <0048> ] TJ \nET\n';

test('words of a levelled page go back to where they lean, level each, in an appended update', () => {
  const before = layer(content);
  const after = Buffer.from(tiltLayer(before, 90));
  expect(after.subarray(0, before.length).equals(before)).toBe(true);
  const added = after.subarray(before.length);
  const text = added.toString('latin1');
  const start = text.indexOf('stream\n') + 7;
  const length = Number(/\/Length (\d+)/.exec(text)?.[1]);
  // About the middle (100, 200), a quarter counter-clockwise: 50 to the right becomes 50 up, what was below is to the right.
  expect(inflateSync(added.subarray(start, start + length)).toString('latin1')).toBe(
    'BT\n3 Tr 1 0 0 1 100.000 250.000 Tm /f-0-0 9 Tf 99 Tz [ <0041> ] TJ 0.000 39.240 Td 82 Tz [ <0047> ] TJ \n 10.000 -39.240 Td 90 Tz [ <0048> ] TJ \nET\n',
  );
  const [, offset, size, previous] = /xref\n10 1\n(\d{10}) 00000 n \ntrailer\n<< \/Size (\d+) \/Root 1 0 R \/Prev (\d+) >>/.exec(text) ?? [];
  expect(after.subarray(Number(offset), Number(offset) + 8).toString()).toBe('10 0 obj');
  expect([Number(size), before.subarray(Number(previous), Number(previous) + 4).toString()]).toEqual([12, 'xref']);
  expect(after.subarray(Number(/startxref\n(\d+)/.exec(text)?.[1])).toString().startsWith('xref\n10 1')).toBe(true);
});

test('what is level, or written otherwise, stays as it is', () => {
  const level = layer(content);
  expect(tiltLayer(level, 0)).toBe(level);
  const other = Buffer.from('%PDF-1.7\nsomething else');
  expect(tiltLayer(other, 2)).toBe(other);
});
