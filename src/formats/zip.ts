import { crc32 } from 'node:zlib';
import { Inflate } from 'fflate';
import iconv from 'iconv-lite';
import { DamagedPart, UnreadableFile } from './types.ts';

/** Limits of one archive; all of its parts share them, counted on real bytes while inflating (trust.md 5.1). */
export interface ZipLimits {
  maxUnpackedBytes: number;
  /** Default 10,000. */
  maxEntries?: number;
}

export interface ZipEntry {
  /** As stored, decoded from UTF-8 or else CP437, never used as a path. */
  name: string;
  encrypted: boolean;
  method: number;
  /** Size the header claims; only good for ordering and messages, never for limits. */
  claimedBytes: number;
  /** Unix mode bits, 0 where the archive has none: a symbolic link is 0o120000. */
  unixMode: number;
  start: number;
  packedBytes: number;
}

export interface Zip {
  entries: ZipEntry[];
  /** The entry of that name, compared as OOXML does: without regard to case, `\` as `/`. */
  find(name: string): ZipEntry | undefined;
  /** Whole content of one part. */
  bytes(entry: ZipEntry): Uint8Array;
  /** Content piece by piece, for parts too large to hold. */
  stream(entry: ZipEntry, onChunk: (chunk: Uint8Array) => void): void;
}

const endSignature = 0x06054b50;
const centralSignature = 0x02014b50;
const localSignature = 0x04034b50;
/** Packed bytes given to the inflater at a time: deflate grows at most 1,032 times, so one step makes at most 17 MB. */
const stepBytes = 16_384;
/** A ratio says nothing about small parts (styles of a one-page letter pack 50:1). */
const ratioCheckedFrom = 64 * 1024 * 1024;
const maxRatio = 200;

export const isZip = (head: Uint8Array): boolean =>
  head.length >= 4 && head[0] === 0x50 && head[1] === 0x4b && ((head[2] === 3 && head[3] === 4) || (head[2] === 5 && head[3] === 6));

export function tooLarge(maxUnpackedBytes: number): UnreadableFile {
  const gib = maxUnpackedBytes / 1024 ** 3;
  const size = gib >= 1 ? `${Number(gib.toFixed(1))} GiB` : `${Math.max(1, Math.round(maxUnpackedBytes / 1024 ** 2))} MiB`;
  return new UnreadableFile(`Too large to read: it unpacks to more than ${size}`);
}

const cutShort = () => new UnreadableFile('Damaged: the file is cut short or not complete — upload it again from the source');

/** Reads the central directory; throws UnreadableFile for a damaged or oversized archive. Nothing is inflated yet. */
export function openZip(bytes: Uint8Array, limits: ZipLimits): Zip {
  const entries = readDirectory(bytes, limits.maxEntries ?? 10_000);
  const byName = new Map<string, ZipEntry>();
  for (const entry of entries) {
    const key = partKey(entry.name);
    if (!byName.has(key)) byName.set(key, entry);
  }
  let unpacked = 0;

  const stream = (entry: ZipEntry, onChunk: (chunk: Uint8Array) => void): void => {
    if (entry.encrypted) throw new UnreadableFile('It needs a password to open — upload a copy without one');
    let own = 0;
    const count = (chunk: Uint8Array) => {
      own += chunk.length;
      unpacked += chunk.length;
      if (unpacked > limits.maxUnpackedBytes) throw tooLarge(limits.maxUnpackedBytes);
      if (own > ratioCheckedFrom && own > maxRatio * entry.packedBytes) {
        throw new UnreadableFile(`Too large to read: a part of it unpacks to more than ${maxRatio} times its size`);
      }
      if (chunk.length > 0) onChunk(chunk);
    };
    const packed = bytes.subarray(entry.start, entry.start + entry.packedBytes);
    if (entry.method === 0) return count(packed);
    if (entry.method !== 8) throw new DamagedPart('Damaged: it is packed in a way that is not read here');
    inflate(packed, count);
  };

  return {
    entries,
    find: (name) => byName.get(partKey(name)),
    stream,
    bytes: (entry) => {
      const chunks: Uint8Array[] = [];
      stream(entry, (chunk) => chunks.push(chunk.slice()));
      return Buffer.concat(chunks);
    },
  };
}

const partKey = (name: string): string => name.replaceAll('\\', '/').replace(/^\/+/, '').toLowerCase();

function inflate(packed: Uint8Array, onChunk: (chunk: Uint8Array) => void): void {
  let refused: unknown;
  const inflater = new Inflate((chunk) => {
    try {
      onChunk(chunk);
    } catch (error) {
      refused = error;
      throw error;
    }
  });
  try {
    for (let at = 0; at < packed.length || at === 0; at += stepBytes) {
      inflater.push(packed.subarray(at, at + stepBytes), at + stepBytes >= packed.length);
    }
  } catch {
    if (refused) throw refused;
    throw new DamagedPart('Damaged: a part of it cannot be unpacked');
  }
}

function readDirectory(bytes: Uint8Array, maxEntries: number): ZipEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  if (end < 0) throw cutShort();
  let count = view.getUint16(end + 10, true);
  let offset = view.getUint32(end + 16, true);
  let size = view.getUint32(end + 12, true);
  // ZIP64: the locator stands right before the end record.
  if ((count === 0xffff || offset === 0xffffffff || size === 0xffffffff) && end >= 20 && view.getUint32(end - 20, true) === 0x07064b50) {
    const at = Number(view.getBigUint64(end - 20 + 8, true));
    if (at + 56 > bytes.length || view.getUint32(at, true) !== 0x06064b50) throw cutShort();
    count = Number(view.getBigUint64(at + 32, true));
    size = Number(view.getBigUint64(at + 40, true));
    offset = Number(view.getBigUint64(at + 48, true));
  }
  if (count > maxEntries) throw new UnreadableFile(`Too large to read: it holds more than ${maxEntries.toLocaleString('en-US')} files`);
  // Bytes put before the archive (self-extracting files) shift every offset by the same amount.
  const shift = Math.max(0, end - size - offset);
  if (offset + shift > bytes.length) throw cutShort();
  let at = offset + (offset + 4 <= bytes.length && view.getUint32(offset, true) === centralSignature ? 0 : shift);
  const base = at - offset;
  const entries: ZipEntry[] = [];
  while (at + 46 <= bytes.length && view.getUint32(at, true) === centralSignature) {
    if (entries.length >= maxEntries) throw new UnreadableFile(`Too large to read: it holds more than ${maxEntries.toLocaleString('en-US')} files`);
    const nameLength = view.getUint16(at + 28, true);
    const extraLength = view.getUint16(at + 30, true);
    entries.push(readEntry(bytes, view, at, nameLength, extraLength, base));
    at += 46 + nameLength + extraLength + view.getUint16(at + 32, true);
  }
  if (entries.length < Math.min(count, 0xffff)) throw cutShort();
  return entries;
}

function readEntry(bytes: Uint8Array, view: DataView, at: number, nameLength: number, extraLength: number, base: number): ZipEntry {
  const flags = view.getUint16(at + 8, true);
  let packedBytes = view.getUint32(at + 20, true);
  let claimedBytes = view.getUint32(at + 24, true);
  let local = view.getUint32(at + 42, true);
  const rawName = bytes.subarray(at + 46, at + 46 + nameLength);
  let name: string | undefined;
  const extraStart = at + 46 + nameLength;
  for (let x = extraStart; x + 4 <= Math.min(bytes.length, extraStart + extraLength); ) {
    const id = view.getUint16(x, true);
    const length = view.getUint16(x + 2, true);
    if (id === 1) {
      let y = x + 4;
      const next = () => {
        if (y + 8 > bytes.length) throw cutShort();
        y += 8;
        return Number(view.getBigUint64(y - 8, true));
      };
      if (claimedBytes === 0xffffffff) claimedBytes = next();
      if (packedBytes === 0xffffffff) packedBytes = next();
      if (local === 0xffffffff) local = next();
    }
    if (id === 0x7075) name = unicodeName(bytes.subarray(x + 4, x + 4 + length), rawName);
    x += 4 + length;
  }
  local += base;
  if (local + 30 > bytes.length || view.getUint32(local, true) !== localSignature) throw cutShort();
  const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
  if (start + packedBytes > bytes.length) throw cutShort();
  const madeBy = view.getUint8(at + 5);
  return {
    name: name ?? decodeName(rawName),
    encrypted: (flags & 1) === 1,
    method: view.getUint16(at + 10, true),
    claimedBytes,
    unixMode: madeBy === 3 ? view.getUint32(at + 38, true) >>> 16 : 0,
    start,
    packedBytes,
  };
}

/** Names are CP437 unless bit 11 says UTF-8 (APPNOTE 4.4.4, D.1); many programs write UTF-8 without saying so, and CP437 hardly ever looks like it. */
function decodeName(raw: Uint8Array): string {
  return utf8(raw) ?? iconv.decode(Buffer.from(raw), 'cp437');
}

/** Info-ZIP's Unicode path (APPNOTE 4.6.9): it counts only while the name that it was made for stands. */
function unicodeName(field: Uint8Array, raw: Uint8Array): string | undefined {
  if (field.length < 6 || field[0] !== 1) return undefined;
  const made = new DataView(field.buffer, field.byteOffset).getUint32(1, true);
  return made === crc32(raw) ? utf8(field.subarray(5)) : undefined;
}

function utf8(raw: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(raw);
  } catch {
    return undefined;
  }
}

function findEnd(view: DataView): number {
  const lowest = Math.max(0, view.byteLength - 22 - 0xffff);
  for (let at = view.byteLength - 22; at >= lowest; at--) {
    if (view.getUint32(at, true) === endSignature) return at;
  }
  return -1;
}
