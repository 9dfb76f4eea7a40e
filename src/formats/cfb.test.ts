import { expect, test } from 'vitest';
import { listCompoundFile, refuseCircles } from './cfb.ts';

/** Header, one table sector, one directory sector with a root and two streams: the smallest OLE2 file there is. */
function compoundFile(change: (view: DataView) => void = () => undefined): Uint8Array {
  const bytes = new Uint8Array(512 * 3);
  const view = new DataView(bytes.buffer);
  bytes.set([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
  view.setUint16(30, 9, true);
  view.setUint32(44, 1, true);
  view.setInt32(48, 1, true);
  view.setInt32(60, -2, true);
  view.setInt32(68, -2, true);
  for (let at = 80; at < 512; at += 4) view.setInt32(at, -1, true);
  for (let at = 512; at < 1_024; at += 4) view.setInt32(at, -1, true);
  view.setInt32(512, -3, true);
  view.setInt32(516, -2, true);
  ['Root Entry', 'WordDocument', '1Table'].forEach((name, index) => {
    const at = 1_024 + index * 128;
    for (let letter = 0; letter < name.length; letter++) view.setUint16(at + letter * 2, name.charCodeAt(letter), true);
    view.setUint16(at + 64, name.length * 2 + 2, true);
    view.setUint8(at + 66, index === 0 ? 5 : 2);
    for (const link of [68, 72, 76]) view.setInt32(at + link, -1, true);
    view.setInt32(at + 116, -2, true);
  });
  view.setInt32(1_024 + 76, 1, true);
  view.setInt32(1_024 + 128 + 72, 2, true);
  change(view);
  return bytes;
}

test('the directory is listed', () => {
  expect(listCompoundFile(compoundFile()).map(({ name }) => name)).toEqual(['Root Entry', 'WordDocument', '1Table']);
  expect(() => refuseCircles(compoundFile())).not.toThrow();
});

test.each<[what: string, change: (view: DataView) => void]>([
  ['an entry below itself', (view) => view.setInt32(1_024 + 256 + 68, 2, true)],
  ['an entry below two others', (view) => view.setInt32(1_024 + 256 + 68, 1, true)],
  ['a chain that returns to its start', (view) => {
    view.setUint32(1_024 + 128 + 120, 1_000, true);
    view.setInt32(60, 1, true);
    view.setInt32(516, 1, true);
  }],
  ['a size beyond the file', (view) => view.setUint32(1_024 + 128 + 120, 0x7fffffff, true)],
  ['more table sectors than the file has', (view) => view.setUint32(64, 0x7fffffff, true)],
])('%s is damage, not an endless reading', (_, change) => {
  expect(() => refuseCircles(compoundFile(change))).toThrow(/^Damaged/);
});

test('a directory chain in a circle is listed once', () => {
  const bytes = compoundFile((view) => view.setInt32(516, 1, true));
  expect(listCompoundFile(bytes)).toHaveLength(3);
});
