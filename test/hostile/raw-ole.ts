/** OLE compound files (doc, xls, ppt, msg) with broken chains. */

const SECTOR = 512;
const FREE = 0xffffffff;
const END = 0xfffffffe;
const TABLE = 0xfffffffd;

export interface OleSpec {
  /** Streams by name; each lies in one run of sectors. */
  streams: Record<string, Buffer>;
  /** Changes the table of sector chains before it is written; `first` says where each stream begins. */
  spoil?(table: Uint32Array, first: Record<string, number>): void;
  /** Changes the directory. */
  spoilDirectory?(directory: Buffer): void;
}

/** Sector 0 is the table, sector 1 the directory, streams follow. At most 128 sectors. */
export function ole({ streams, spoil, spoilDirectory }: OleSpec): Buffer {
  const table = new Uint32Array(SECTOR / 4).fill(FREE);
  table[0] = TABLE;
  table[1] = END;
  const names = Object.keys(streams);
  const directory = Buffer.alloc(SECTOR);
  const bodies: Buffer[] = [];
  const first: Record<string, number> = {};
  let next = 2;
  const entry = (at: number, name: string, type: number, start: number, size: number, child: number, right: number): void => {
    const base = at * 128;
    directory.write(name, base, 'utf16le');
    directory.writeUInt16LE((name.length + 1) * 2, base + 64);
    directory[base + 66] = type;
    directory[base + 67] = 1;
    directory.writeUInt32LE(FREE, base + 68);
    directory.writeUInt32LE(right, base + 72);
    directory.writeUInt32LE(child, base + 76);
    directory.writeUInt32LE(start, base + 116);
    directory.writeUInt32LE(size, base + 120);
  };
  entry(0, 'Root Entry', 5, END, 0, names.length > 0 ? 1 : FREE, FREE);
  names.slice(0, 3).forEach((name, index) => {
    const body = streams[name]!;
    // Below 4,096 bytes a stream would lie in the small sectors, which these files do not have.
    const sectors = Math.max(8, Math.ceil(body.length / SECTOR));
    first[name] = next;
    for (let at = 0; at < sectors; at++) table[next + at] = at === sectors - 1 ? END : next + at + 1;
    bodies.push(Buffer.concat([body, Buffer.alloc(sectors * SECTOR - body.length)]));
    entry(index + 1, name, 2, next, sectors * SECTOR, FREE, index < Math.min(3, names.length) - 1 ? index + 2 : FREE);
    next += sectors;
  });
  spoil?.(table, first);
  spoilDirectory?.(directory);
  const header = Buffer.alloc(SECTOR);
  header.set([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
  header.writeUInt16LE(0x3e, 24);
  header.writeUInt16LE(3, 26);
  header.writeUInt16LE(0xfffe, 28);
  header.writeUInt16LE(9, 30);
  header.writeUInt16LE(6, 32);
  header.writeUInt32LE(1, 44);
  header.writeUInt32LE(1, 48);
  header.writeUInt32LE(4096, 56);
  header.writeUInt32LE(END, 60);
  header.writeUInt32LE(END, 68);
  header.fill(0xff, 76);
  header.writeUInt32LE(0, 76);
  return Buffer.concat([header, Buffer.from(table.buffer), directory, ...bodies]);
}
