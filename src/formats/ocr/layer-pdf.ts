import { deflateSync } from 'node:zlib';
import { createPdfObjects } from '../pdf-objects.ts';
import { writeEmptyFont } from './empty-font.ts';
import type { LayerPage } from './layer-page.ts';

/** Writes a PDF of invisible words, to be laid over the pages of another one. */

/** Objects before those of the pages: catalogue, pages, and the font's six. */
const FIRST_PAGE = 9;

export function writeLayerPdf(pages: readonly LayerPage[]): Uint8Array {
  const { object, finish } = createPdfObjects();
  const stream = (number: number, bytes: Uint8Array, more = ''): void => {
    const packed = deflateSync(bytes);
    object(number, `<< /Length ${packed.byteLength} /Filter /FlateDecode${more} >>`, packed);
  };
  object(1, '<< /Type /Catalog /Pages 2 0 R >>');
  object(2, `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${FIRST_PAGE + at * 2} 0 R`).join(' ')}] >>`);
  object(3, '<< /Type /Font /Subtype /Type0 /BaseFont /Invisible /Encoding /Identity-H /DescendantFonts [4 0 R] /ToUnicode 5 0 R >>');
  object(4, '<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Invisible /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor 6 0 R /DW 500 /CIDToGIDMap 7 0 R >>');
  stream(5, Buffer.from(identityCMap(), 'latin1'));
  object(6, '<< /Type /FontDescriptor /FontName /Invisible /Flags 5 /FontBBox [0 0 500 1000] /ItalicAngle 0 /Ascent 1000 /Descent 0 /CapHeight 1000 /StemV 80 /FontFile2 8 0 R >>');
  // Every code shows glyph 1, which is empty; 0 would stand for a missing one.
  stream(7, Buffer.alloc(65_536 * 2).fill(Buffer.from([0, 1])));
  const font = writeEmptyFont();
  stream(8, font, ` /Length1 ${font.byteLength}`);
  for (const [at, { width, height, rotate, content }] of pages.entries()) {
    const number = FIRST_PAGE + at * 2;
    object(number, `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Rotate ${rotate} /Contents ${number + 1} 0 R /Resources << /Font << /F 3 0 R >> >> >>`);
    object(number + 1, `<< /Length ${content.byteLength} /Filter /FlateDecode >>`, content);
  }
  return finish();
}

/** Codes are UTF-16 already. A range may only vary in its last byte, and a block holds 100 (Adobe Technical Note 5411). */
function identityCMap(): string {
  const ranges = Array.from({ length: 256 }, (_, high) => high.toString(16).padStart(2, '0')).map((high) => `<${high}00> <${high}ff> <${high}00>`);
  const blocks: string[] = [];
  for (let at = 0; at < ranges.length; at += 100) {
    const block = ranges.slice(at, at + 100);
    blocks.push(`${block.length} beginbfrange\n${block.join('\n')}\nendbfrange`);
  }
  return `/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000> <ffff>
endcodespacerange
${blocks.join('\n')}
endcmap
CMapName currentdict /CMap defineresource pop
end
end
`;
}
