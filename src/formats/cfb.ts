import { UnreadableFile } from './types.ts';

/** OLE2 compound files (doc, xls, ppt, msg, encrypted OOXML): only the directory is read, to tell which of them it is. */

const signature = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
const maxEntries = 100_000;

export const isCompoundFile = (head: Uint8Array): boolean => head.length >= 8 && signature.every((byte, at) => head[at] === byte);

const damaged = () => new UnreadableFile('Damaged: the file is cut short or not complete — upload it again from the source');

/** Names of all streams and storages with their sizes and, for those not kept in the small-stream area, their place; throws UnreadableFile when the file is too broken to list. */
export function listCompoundFile(bytes: Uint8Array): { name: string; bytes: number; start: number }[] {
  if (bytes.length < 512) throw damaged();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const shift = view.getUint16(30, true);
  if (shift < 7 || shift > 16) throw damaged();
  const sectorSize = 1 << shift;
  const sectorCount = Math.ceil(bytes.length / sectorSize);
  const sectorAt = (sector: number): number => (sector + 1) * sectorSize;
  const fatSectors = readFatSectors(view, bytes.length, sectorSize, sectorCount);

  const nextOf = (sector: number): number => {
    const perSector = sectorSize / 4;
    const fat = fatSectors[Math.floor(sector / perSector)];
    const at = fat === undefined ? -1 : sectorAt(fat) + (sector % perSector) * 4;
    return at < 0 || at + 4 > bytes.length ? -2 : view.getInt32(at, true);
  };

  const entries: { name: string; bytes: number; start: number }[] = [];
  const seen = new Set<number>();
  for (let sector = view.getInt32(48, true); sector >= 0 && !seen.has(sector) && entries.length < maxEntries; sector = nextOf(sector)) {
    seen.add(sector);
    const start = sectorAt(sector);
    if (start >= bytes.length) break;
    for (let at = start; at + 128 <= Math.min(start + sectorSize, bytes.length); at += 128) {
      const length = view.getUint16(at + 64, true);
      if (view.getUint8(at + 66) === 0 || length < 2 || length > 64) continue;
      const name = new TextDecoder('utf-16le').decode(bytes.subarray(at, at + length - 2));
      const size = view.getUint32(at + 120, true);
      // Streams under 4,096 bytes lie in another area, which nothing here needs.
      entries.push({ name, bytes: size, start: size >= 4_096 ? sectorAt(view.getInt32(at + 116, true)) : -1 });
    }
  }
  if (entries.length === 0) throw damaged();
  return entries;
}

function readFatSectors(view: DataView, length: number, sectorSize: number, sectorCount: number): number[] {
  const sectors: number[] = [];
  for (let at = 76; at < 512; at += 4) {
    const sector = view.getInt32(at, true);
    if (sector >= 0) sectors.push(sector);
  }
  const seen = new Set<number>();
  for (let difat = view.getInt32(68, true); difat >= 0 && !seen.has(difat) && seen.size < sectorCount; ) {
    seen.add(difat);
    const start = (difat + 1) * sectorSize;
    if (start + sectorSize > length) break;
    for (let at = start; at < start + sectorSize - 4; at += 4) {
      const sector = view.getInt32(at, true);
      if (sector >= 0) sectors.push(sector);
    }
    difat = view.getInt32(start + sectorSize - 4, true);
  }
  return sectors;
}
