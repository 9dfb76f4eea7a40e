/**
 * A TrueType font of two empty glyphs: words laid over a scan need one that is embedded (PDF 32000-1, 9.7.5.2) and shows nothing. Only
 * the tables that a PDF asks for (9.9, table 126), each as the OpenType specification has it.
 */
export function writeEmptyFont(): Uint8Array {
  const tables: [string, Buffer][] = [
    ['glyf', Buffer.alloc(4)],
    ['head', numbers([[4, 0x00010000], [4, 0x00010000], [4, 0], [4, 0x5f0f3cf5], [2, 0], [2, UNITS], [8, 0], [8, 0], [2, 0], [2, 0], [2, UNITS / 2], [2, UNITS], [2, 0], [2, 8], [2, 2], [2, 0], [2, 0]])],
    ['hhea', numbers([[4, 0x00010000], [2, UNITS], [2, 0], [2, 0], [2, UNITS / 2], [2, 0], [2, 0], [2, UNITS / 2], [2, 1], [2, 0], [2, 0], [8, 0], [2, 0], [2, GLYPHS]])],
    ['hmtx', numbers(Array.from({ length: GLYPHS }, () => [[2, UNITS / 2], [2, 0]] as Field[]).flat())],
    ['loca', Buffer.alloc((GLYPHS + 1) * 2)],
    ['maxp', numbers([[4, 0x00010000], [2, GLYPHS], [2, 0], [2, 0], [2, 0], [2, 0], [2, 1], [2, 0], [2, 0], [2, 0], [2, 0], [2, 0], [2, 0], [2, 0], [2, 0]])],
  ];
  const power = 2 ** Math.floor(Math.log2(tables.length));
  const head = numbers([[4, 0x00010000], [2, tables.length], [2, power * 16], [2, Math.log2(power)], [2, (tables.length - power) * 16]]);
  let at = head.byteLength + tables.length * 16;
  const directory: Buffer[] = [];
  const bodies: Buffer[] = [];
  for (const [tag, body] of tables) {
    const padded = Buffer.concat([body, Buffer.alloc(-body.byteLength & 3)]);
    directory.push(Buffer.concat([Buffer.from(tag, 'latin1'), numbers([[4, checksum(padded)], [4, at], [4, body.byteLength]])]));
    bodies.push(padded);
    at += padded.byteLength;
  }
  const font = Buffer.concat([head, ...directory, ...bodies]);
  // head.checkSumAdjustment
  const headAt = directory[1]!.readUInt32BE(8);
  font.writeUInt32BE((0xb1b0afba - checksum(font)) >>> 0, headAt + 8);
  return font;
}

const UNITS = 1000;
const GLYPHS = 2;

/** Bytes and what is in them, unsigned. */
type Field = [bytes: 2 | 4 | 8, value: number];

function numbers(fields: Field[]): Buffer {
  const out = Buffer.alloc(fields.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of fields) {
    // The last four of eight: dates, and reserved fields.
    if (bytes === 2) out.writeUInt16BE(value, at);
    else out.writeUInt32BE(value, at + bytes - 4);
    at += bytes;
  }
  return out;
}

function checksum(table: Buffer): number {
  let sum = 0;
  for (let at = 0; at < table.byteLength; at += 4) sum = (sum + table.readUInt32BE(at)) >>> 0;
  return sum;
}
