/** Outlook messages (MS-OXMSG in an OLE compound file), made in code. */

export interface MsgSpec {
  subject: string;
  from: { name: string; address: string };
  to: { name: string; address: string }[];
  body?: string;
  html?: string;
  /** Uncompressed; it is wrapped as MS-OXRTFCP has it for that. */
  rtf?: string;
  attachments?: { name: string; bytes: Uint8Array; contentId?: string; hidden?: boolean }[];
}

type Tree = { [name: string]: Buffer | Tree };

const STRING = 0x001f;
const BINARY = 0x0102;
const LONG = 0x0003;
const BOOLEAN = 0x000b;

export function makeMsg({ subject, from, to, body, html, rtf, attachments = [] }: MsgSpec): Buffer {
  const header = Buffer.alloc(32);
  header.writeUInt32LE(to.length, 8);
  header.writeUInt32LE(attachments.length, 12);
  header.writeUInt32LE(to.length, 16);
  header.writeUInt32LE(attachments.length, 20);
  const top: Tree = {
    ...properties(header, [
      [0x001a, STRING, 'IPM.Note'], [0x0037, STRING, subject], [0x0c1a, STRING, from.name], [0x0c1f, STRING, from.address], [0x5d01, STRING, from.address],
      ...(body === undefined ? [] : [[0x1000, STRING, body] as Property]),
      ...(html === undefined ? [] : [[0x1013, BINARY, Buffer.from(html, 'utf8')] as Property]),
      ...(rtf === undefined ? [] : [[0x1009, BINARY, wrapped(rtf)] as Property]),
    ]),
    '__nameid_version1.0': { '__substg1.0_00020102': Buffer.alloc(0), '__substg1.0_00030102': Buffer.alloc(0), '__substg1.0_00040102': Buffer.alloc(0) },
  };
  for (const [at, { name, address }] of to.entries()) {
    top[`__recip_version1.0_#${at.toString(16).padStart(8, '0')}`] = properties(Buffer.alloc(8), [[0x0c15, LONG, 1], [0x3001, STRING, name], [0x3003, STRING, address], [0x39fe, STRING, address]]);
  }
  for (const [at, { name, bytes, contentId, hidden }] of attachments.entries()) {
    top[`__attach_version1.0_#${at.toString(16).padStart(8, '0')}`] = properties(Buffer.alloc(8), [[0x3705, LONG, 1], [0x3707, STRING, name], [0x3701, BINARY, Buffer.from(bytes)], ...(contentId === undefined ? [] : [[0x3712, STRING, contentId] as Property]), ...(hidden ? [[0x7ffe, BOOLEAN, 1] as Property] : [])]);
  }
  return compoundFile(top);
}

type Property = [id: number, type: number, value: string | number | Buffer];

/** The streams of one object: fixed values lie in the table itself, others have a stream each. */
function properties(header: Buffer, list: Property[]): Tree {
  const out: Tree = {};
  const rows = list.map(([id, type, value]) => {
    const row = Buffer.alloc(16);
    row.writeUInt16LE(type, 0);
    row.writeUInt16LE(id, 2);
    row.writeUInt32LE(6, 4);
    if (typeof value === 'number') row.writeUInt32LE(value, 8);
    else {
      const bytes = typeof value === 'string' ? Buffer.from(value, 'utf16le') : value;
      row.writeUInt32LE(bytes.length + (type === STRING ? 2 : 0), 8);
      out[`__substg1.0_${id.toString(16).padStart(4, '0').toUpperCase()}${type.toString(16).padStart(4, '0').toUpperCase()}`] = bytes;
    }
    return row;
  });
  return { '__properties_version1.0': Buffer.concat([header, ...rows]), ...out };
}

function wrapped(rtf: string): Buffer {
  const body = Buffer.from(rtf, 'latin1');
  const head = Buffer.alloc(16);
  head.writeUInt32LE(body.length + 12, 0);
  head.writeUInt32LE(body.length, 4);
  head.write('MELA', 8, 'latin1');
  return Buffer.concat([head, body]);
}

const FREE = 0xffffffff;
const END = 0xfffffffe;
const SECTOR = 512;
const SMALL = 64;
const CUTOFF = 4_096;

/** MS-CFB, version 3. Siblings are a list and no balanced tree, which readers do not mind. Up to 109 sectors of table: about 7 MB. */
function compoundFile(tree: Tree): Buffer {
  const entries: { name: string; kind: number; start: number; bytes: number; child: number; right: number }[] = [];
  const table: number[] = [];
  const sectors: Buffer[] = [];
  const small: Buffer[] = [];
  const smallTable: number[] = [];
  const padded = (bytes: Buffer, to: number): Buffer => Buffer.concat([bytes, Buffer.alloc((to - (bytes.length % to)) % to)]);
  const store = (bytes: Buffer): number => {
    const first = sectors.length;
    const body = padded(bytes, SECTOR);
    for (let at = 0; at < body.length; at += SECTOR) {
      sectors.push(body.subarray(at, at + SECTOR));
      table.push(at + SECTOR < body.length ? sectors.length : END);
    }
    return body.length === 0 ? END : first;
  };
  const storeSmall = (bytes: Buffer): number => {
    const first = smallTable.length;
    const body = padded(bytes, SMALL);
    for (let at = 0; at < body.length; at += SMALL) {
      small.push(body.subarray(at, at + SMALL));
      smallTable.push(at + SMALL < body.length ? smallTable.length + 1 : END);
    }
    return body.length === 0 ? END : first;
  };
  const add = (name: string, kind: number): (typeof entries)[number] => {
    const entry = { name, kind, start: kind === 1 ? 0 : END, bytes: 0, child: FREE, right: FREE };
    entries.push(entry);
    return entry;
  };
  const fill = (parent: (typeof entries)[number], children: Tree): void => {
    let before: (typeof entries)[number] | undefined;
    for (const [name, value] of Object.entries(children)) {
      const at = entries.length;
      const entry = add(name, Buffer.isBuffer(value) ? 2 : 1);
      if (before === undefined) parent.child = at;
      else before.right = at;
      before = entry;
      if (!Buffer.isBuffer(value)) fill(entry, value as Tree);
      else {
        entry.bytes = value.length;
        entry.start = value.length >= CUTOFF ? store(value) : storeSmall(value);
      }
    }
  };
  const root = add('Root Entry', 5);
  fill(root, tree);
  root.bytes = small.length * SMALL;
  root.start = store(Buffer.concat(small));
  const numbers = (list: number[]): Buffer => {
    const bytes = Buffer.alloc(Math.ceil(list.length / 128) * SECTOR, 0xff);
    list.forEach((value, at) => bytes.writeUInt32LE(value, at * 4));
    return bytes;
  };
  const smallStart = store(numbers(smallTable));
  const smallSectors = Math.ceil(smallTable.length / 128);
  const directory = Buffer.alloc(Math.ceil(entries.length / 4) * SECTOR);
  entries.forEach(({ name, kind, start, bytes, child, right }, at) => {
    const base = at * 128;
    directory.write(name, base, 'utf16le');
    directory.writeUInt16LE((name.length + 1) * 2, base + 64);
    directory[base + 66] = kind;
    directory[base + 67] = 1;
    directory.writeUInt32LE(FREE, base + 68);
    directory.writeUInt32LE(right, base + 72);
    directory.writeUInt32LE(child, base + 76);
    directory.writeUInt32LE(start, base + 116);
    directory.writeUInt32LE(bytes, base + 120);
  });
  const directoryStart = store(directory);
  // The table describes its own sectors too.
  let tableSectors = 1;
  while (Math.ceil((table.length + tableSectors) / 128) > tableSectors) tableSectors += 1;
  const tableStart = sectors.length;
  const all = numbers([...table, ...Array.from({ length: tableSectors }, () => 0xfffffffd)]);
  const head = Buffer.alloc(SECTOR);
  head.set([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
  for (const [at, value] of [[24, 0x3e], [26, 3], [28, 0xfffe], [30, 9], [32, 6]] as const) head.writeUInt16LE(value, at);
  for (const [at, value] of [[44, tableSectors], [48, directoryStart], [56, CUTOFF], [60, smallSectors === 0 ? END : smallStart], [64, smallSectors], [68, END], [72, 0]] as const) head.writeUInt32LE(value, at);
  head.fill(0xff, 76);
  for (let at = 0; at < tableSectors; at += 1) head.writeUInt32LE(tableStart + at, 76 + at * 4);
  return Buffer.concat([head, ...sectors, all]);
}
