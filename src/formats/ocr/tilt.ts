import { deflateSync, inflateSync } from 'node:zlib';

/**
 * Tesseract read a levelled picture; the page itself still leans. Moves the words of its one-page PDF about the middle of the page, by
 * so many degrees counter-clockwise, so that they lie over the ink. The change is appended (PDF 32000-1, 7.5.6, incremental update).
 * A PDF that is written otherwise than tesseract does it is handed back as it is.
 */
export function tiltLayer(layer: Uint8Array, degrees: number): Uint8Array {
  if (degrees === 0) return layer;
  const bytes = Buffer.from(layer.buffer, layer.byteOffset, layer.byteLength);
  const text = bytes.toString('latin1');
  const contents = /\/Contents (\d+) 0 R/.exec(text)?.[1];
  const box = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(text);
  const root = /\/Root (\d+) 0 R/.exec(text)?.[1];
  const start = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(text)?.[1];
  const size = /\/Size (\d+)/.exec(text.slice(Number(start ?? 0)))?.[1];
  const stream = contents && new RegExp(`\\n${contents} 0 obj\\s*<<\\s*/Length (\\d+) /Filter /FlateDecode\\s*>>\\s*stream\\n`).exec(text);
  if (!contents || !box || !root || !start || !size || !stream) return layer;

  const from = stream.index + stream[0].length;
  const words = inflateSync(bytes.subarray(from, from + Number(stream[1])));
  const tilted = deflateSync(Buffer.from(moveWords(words.toString('latin1'), degrees, Number(box[1]) / 2, Number(box[2]) / 2), 'latin1'));
  const object = Buffer.concat([
    Buffer.from(`\n${contents} 0 obj\n<< /Length ${tilted.length} /Filter /FlateDecode >>\nstream\n`, 'latin1'), tilted, Buffer.from('\nendstream\nendobj\n', 'latin1'),
  ]);
  const at = bytes.length + object.length;
  const tail = `xref\n${contents} 1\n${String(bytes.length + 1).padStart(10, '0')} 00000 n \ntrailer\n<< /Size ${size} /Root ${root} 0 R /Prev ${start} >>\nstartxref\n${at}\n%%EOF\n`;
  return Buffer.concat([bytes, object, Buffer.from(tail, 'latin1')]);
}

const NUMBER = String.raw`-?[\d.]+`;
/** Where a line starts (`a b c d x y Tm`) and how far the next word is from there (`x y Td`). */
const PLACE = new RegExp(`(?<=\\s)(?:(?<matrix>(?:${NUMBER} ){4})(?<x>${NUMBER}) (?<y>${NUMBER}) Tm|(?<dx>${NUMBER}) (?<dy>${NUMBER}) Td)(?=\\s)`, 'g');

/** Words stay level, since readers of PDFs lose those that lean; only their places turn. */
function moveWords(content: string, degrees: number, middleX: number, middleY: number): string {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const turned = (x: number, y: number): string => `${(x * cos - y * sin).toFixed(3)} ${(x * sin + y * cos).toFixed(3)}`;
  return content.replaceAll(PLACE, (...match) => {
    const { matrix, x, y, dx, dy } = match.at(-1) as Record<string, string | undefined>;
    if (matrix === undefined) return `${turned(Number(dx), Number(dy))} Td`;
    const [toX, toY] = turned(Number(x) - middleX, Number(y) - middleY).split(' ').map(Number) as [number, number];
    return `${matrix}${(toX + middleX).toFixed(3)} ${(toY + middleY).toFixed(3)} Tm`;
  });
}
