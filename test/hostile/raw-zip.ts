/** Writes zips as no honest program would: sizes that lie, entries that share bytes, names that try to leave. */
import { constants, crc32, deflateRawSync } from 'node:zlib';

export interface RawEntry {
  name: string;
  content: Uint8Array | string;
  /** Stored instead of deflated. */
  stored?: boolean;
  /** What the headers say of the unpacked size. Default: the truth. */
  claimedBytes?: number;
  /** Symbolic link: 0o120777. */
  unixMode?: number;
  encrypted?: boolean;
  method?: number;
  /** Packed already. */
  packed?: Uint8Array;
}

const bytesOf = (content: Uint8Array | string): Uint8Array => (typeof content === 'string' ? Buffer.from(content) : content);

/** `sharedWith`: entries of the directory that all point at the bytes of the first local entry. */
export function rawZip(entries: readonly RawEntry[], sharedWith: readonly string[] = []): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  const list = (name: Buffer, flags: number, method: number, crc: number, packed: number, size: number, unixMode: number, at: number): void => {
    const head = Buffer.alloc(46);
    head.writeUInt32LE(0x02014b50, 0);
    head.writeUInt16LE((unixMode > 0 ? 3 << 8 : 0) | 20, 4);
    head.writeUInt16LE(20, 6);
    head.writeUInt16LE(flags, 8);
    head.writeUInt16LE(method, 10);
    head.writeUInt32LE(crc, 16);
    head.writeUInt32LE(packed, 20);
    head.writeUInt32LE(size, 24);
    head.writeUInt16LE(name.length, 28);
    head.writeUInt32LE((unixMode << 16) >>> 0, 38);
    head.writeUInt32LE(at, 42);
    directory.push(head, name);
  };
  entries.forEach((entry, number) => {
    const content = bytesOf(entry.content);
    const packed = entry.packed ?? (entry.stored ? content : deflateRawSync(content));
    const method = entry.method ?? (entry.stored ? 0 : 8);
    const flags = 0x800 | (entry.encrypted ? 1 : 0);
    const crc = entry.packed ? 0 : crc32(content);
    const size = entry.claimedBytes ?? content.length;
    const name = Buffer.from(entry.name);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(20, 4);
    head.writeUInt16LE(flags, 6);
    head.writeUInt16LE(method, 8);
    head.writeUInt32LE(crc, 14);
    head.writeUInt32LE(packed.length, 18);
    head.writeUInt32LE(size, 22);
    head.writeUInt16LE(name.length, 26);
    locals.push(head, name, Buffer.from(packed));
    list(name, flags, method, crc, packed.length, size, entry.unixMode ?? 0, offset);
    if (number === 0) for (const other of sharedWith) list(Buffer.from(other), flags, method, crc, packed.length, size, 0, offset);
    offset += 30 + name.length + packed.length;
  });
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  const count = Math.min(0xffff, entries.length + sharedWith.length);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, central, end]);
}

/** Deflated bytes of `megabytes` MiB of one letter: about a thousandth of that. Made of one piece again and again, which is quick. */
export function packedRun(megabytes: number, letter = 0x20): Buffer {
  const piece = deflateRawSync(Buffer.alloc(2 ** 20, letter), { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  const last = Buffer.from([3, 0]);
  return Buffer.concat([...Array.from({ length: megabytes }, () => piece), last]);
}
