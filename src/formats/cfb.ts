import { UnreadableFile } from './types.ts';

/** OLE2 compound files (doc, xls, ppt, msg, encrypted OOXML): only their directory is read, and whether it can be trusted. */

const signature = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
const maxEntries = 100_000;

export const isCompoundFile = (head: Uint8Array): boolean => head.length >= 8 && signature.every((byte, at) => head[at] === byte);

const damaged = () => new UnreadableFile('Damaged: the file is cut short or not complete — upload it again from the source');

export interface CompoundEntry {
  name: string;
  bytes: number;
  /** Offset in the file of a stream of 4,096 bytes or more; -1 for smaller ones, which lie in an area of their own. */
  start: number;
}

interface Layout {
  view: DataView;
  sectorAt(sector: number): number;
  /** Negative at the end of a chain or outside of the file. */
  nextOf(sector: number): number;
  /** Offsets of the 128-byte directory entries. */
  directory: number[];
}

/** Names of all streams and storages; throws UnreadableFile when the file is too broken to list. */
export function listCompoundFile(bytes: Uint8Array): CompoundEntry[] {
  const { view, sectorAt, directory } = readLayout(bytes);
  return directory.flatMap((at) => {
    const length = view.getUint16(at + 64, true);
    if (view.getUint8(at + 66) === 0 || length < 2 || length > 64) return [];
    const size = view.getUint32(at + 120, true);
    const name = new TextDecoder('utf-16le').decode(bytes.subarray(at, at + length - 2));
    return [{ name, bytes: size, start: size >= smallestOrdinary ? sectorAt(view.getInt32(at + 116, true)) : -1 }];
  });
}

/** Streams below this size are kept in the small-stream area. */
const smallestOrdinary = 4_096;

/**
 * Throws UnreadableFile when a chain of sectors or the tree of entries runs in a circle, or a size is beyond the file:
 * readers that trust them never end.
 */
export function refuseCircles(bytes: Uint8Array): void {
  const { view, sectorAt, nextOf, directory } = readLayout(bytes);
  // Numbers of sectors and sizes that no file of this length can have make readers count for minutes.
  const sectorCount = bytes.length / (sectorAt(1) - sectorAt(0));
  if ([44, 64, 72].some((at) => view.getUint32(at, true) > sectorCount)) throw damaged();
  const follow = (start: number, next: (sector: number) => number): number[] => {
    const seen = new Set<number>();
    for (let sector = start; sector >= 0; sector = next(sector)) {
      if (seen.has(sector)) throw damaged();
      seen.add(sector);
    }
    return [...seen];
  };
  const smallTable = follow(view.getInt32(60, true), nextOf);
  const perSector = (sectorAt(1) - sectorAt(0)) / 4;
  const nextSmall = (sector: number): number => {
    const table = smallTable[Math.floor(sector / perSector)];
    const at = table === undefined ? -1 : sectorAt(table) + (sector % perSector) * 4;
    return at < 0 || at + 4 > bytes.length ? -2 : view.getInt32(at, true);
  };
  const visited = new Set<number>();
  directory.forEach((at, index) => {
    const kind = view.getUint8(at + 66);
    if (kind === 0) return;
    if (kind !== 1 && view.getUint32(at + 120, true) > bytes.length) throw damaged();
    const isSmall = kind !== 5 && view.getUint32(at + 120, true) < smallestOrdinary;
    if (kind !== 1) follow(view.getInt32(at + 116, true), isSmall ? nextSmall : nextOf);
    // Each entry has one place in the tree: below one other, or at the root.
    for (const link of [68, 72, 76]) {
      const to = view.getInt32(at + link, true);
      if (to < 0) continue;
      if (to >= directory.length || to === index || to === 0 || visited.has(to)) throw damaged();
      visited.add(to);
    }
  });
}

function readLayout(bytes: Uint8Array): Layout {
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

  const directory: number[] = [];
  const seen = new Set<number>();
  for (let sector = view.getInt32(48, true); sector >= 0 && !seen.has(sector) && directory.length < maxEntries; sector = nextOf(sector)) {
    seen.add(sector);
    const start = sectorAt(sector);
    if (start >= bytes.length) break;
    for (let at = start; at + 128 <= Math.min(start + sectorSize, bytes.length); at += 128) directory.push(at);
  }
  if (directory.length === 0) throw damaged();
  return { view, sectorAt, nextOf, directory };
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
