import { expect, test } from 'vitest';
import { Base64, bytesOf, enclose, writeObject, type Wire } from './wire-text.ts';

/** As the client's parser gets it. */
function received(wire: Wire): unknown {
  const bytes = Buffer.concat((typeof wire === 'string' ? [wire] : [...wire]).map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
  expect(bytes).toHaveLength(bytesOf(wire));
  return JSON.parse(bytes.toString('utf8'));
}

test('an object arrives as JSON.stringify would send it', () => {
  const value = { resultType: 'complete', content: [{ type: 'text', text: 'größer — 悬空 "quoted"' }], left: undefined, isError: false, _meta: { a: 'é' }, tools: [{ name: 'x' }] };
  expect(received(writeObject(value))).toEqual(JSON.parse(JSON.stringify(value)));
  expect(received(writeObject({}))).toEqual({});
  expect(writeObject({ b: undefined, c: true }, '"a":1', '"d":2')).toBe('{"a":1,"c":true,"d":2}');
  expect(writeObject({}, '"a":1', '"d":2')).toBe('{"a":1,"d":2}');
  expect(writeObject({}, '', '"d":2')).toBe('{"d":2}');
  expect(writeObject({ c: [] }, '', '"d":2')).toBe('{"c":[],"d":2}');
});

test('bytes between texts arrive as base64, whatever stands around them', () => {
  const bytes = new Uint8Array([0, 255, 13, 10, 34]);
  const image = { type: 'image', mimeType: 'image/png', data: new Base64(bytes) };
  const value = { before: 'ü', content: [{ type: 'text', text: '—' }, image, image], isError: false };
  const data = Buffer.from(bytes).toString('base64');
  const plain = { type: 'image', mimeType: 'image/png', data };
  expect(received(enclose('{"id":1,"result":', writeObject(value), '}'))).toEqual({
    id: 1,
    result: { before: 'ü', content: [{ type: 'text', text: '—' }, plain, plain], isError: false },
  });
  expect(received(writeObject({ content: [image] }))).toEqual({ content: [plain] });
});
