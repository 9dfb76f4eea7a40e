import { deflateSync } from 'node:zlib';

/** Writes small PDFs for tests, object by object. Never used by the server. */

export interface PageSpec {
  /** Content stream, in PDF operators. Fonts: /F1 Helvetica, /F2 Courier; picture: /Im1 when the page has one. */
  content: string | Uint8Array;
  width?: number;
  height?: number;
  rotate?: number;
  /** Raw annotation dictionaries, `<< /Type /Annot … >>`. */
  annotations?: string[];
  /** Grey picture of so many pixels a side, as /Im1. */
  picture?: number;
  /** A JPEG that fills the page. */
  scan?: { jpeg: Uint8Array; width: number; height: number; gray: boolean };
  /** Extra /Filter entries are the caller's business: `content` is then already encoded. */
  contentDictionary?: string;
}

export interface PdfSpec {
  pages: PageSpec[];
  title?: string;
  /** Bookmarks: title and 0-based page. */
  outline?: { title: string; page: number }[];
  /** A stream of random-looking bytes that nothing uses, to make the file as large. */
  ballast?: Uint8Array;
  /** A composite font /F3: what its glyphs (two bytes each) stand for. Others have numbers only. */
  glyphs?: Record<number, string>;
}

export function makePdf(spec: PdfSpec): Buffer {
  const chunks: Buffer[] = [];
  const offsets: number[] = [];
  let length = 0;
  const put = (text: string | Uint8Array): void => {
    const bytes = typeof text === 'string' ? Buffer.from(text, 'latin1') : Buffer.from(text);
    chunks.push(bytes);
    length += bytes.length;
  };
  const object = (number: number, body: string, stream?: Uint8Array): void => {
    offsets[number] = length;
    put(`${number} 0 obj\n${body}\n`);
    if (stream !== undefined) {
      put('stream\n');
      put(stream);
      put('\nendstream\n');
    }
    put('endobj\n');
  };
  let next = 10;
  const fresh = (): number => next++;

  put('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n');
  const fields: number[] = [];
  const pageNumbers = spec.pages.map(() => fresh());
  for (const [index, page] of spec.pages.entries()) {
    const content = fresh();
    const bytes = typeof page.content === 'string' ? Buffer.from(page.content, 'latin1') : page.content;
    object(content, `<< /Length ${bytes.length} ${page.contentDictionary ?? ''} >>`, bytes);
    let pictures = '';
    if (page.picture !== undefined) {
      const picture = fresh();
      const pixels = deflateSync(Buffer.alloc(page.picture * page.picture, 128));
      object(
        picture,
        `<< /Type /XObject /Subtype /Image /Width ${page.picture} /Height ${page.picture} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode /Length ${pixels.length} >>`,
        pixels,
      );
      pictures = `/XObject << /Im1 ${picture} 0 R >>`;
    }
    if (page.scan !== undefined) {
      const { jpeg, width, height, gray } = page.scan;
      const picture = fresh();
      object(
        picture,
        `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /Device${gray ? 'Gray' : 'RGB'} /BitsPerComponent 8 /Filter /DCTDecode /Length ${jpeg.length} >>`,
        jpeg,
      );
      pictures = `/XObject << /Im1 ${picture} 0 R >>`;
    }
    const annotations = (page.annotations ?? []).map((annotation) => {
      const number = fresh();
      object(number, annotation);
      if (annotation.includes('/Widget')) fields.push(number);
      return `${number} 0 R`;
    });
    object(
      pageNumbers[index]!,
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${page.width ?? 612} ${page.height ?? 792}] /Contents ${content} 0 R ` +
        `/Resources << /Font << /F1 3 0 R /F2 4 0 R ${spec.glyphs ? '/F3 7 0 R' : ''} >> ${pictures} >> /Rotate ${page.rotate ?? 0} ` +
        `${annotations.length > 0 ? `/Annots [${annotations.join(' ')}]` : ''} >>`,
    );
  }
  object(3, '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
  object(4, '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>');
  if (spec.glyphs !== undefined) {
    const hex = (value: number): string => value.toString(16).padStart(4, '0');
    const rows = Object.entries(spec.glyphs).map(([glyph, char]) => `<${hex(Number(glyph))}> <${hex(char.codePointAt(0)!)}>`);
    const map = Buffer.from(`/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange ${rows.length} beginbfchar ${rows.join(' ')} endbfchar endcmap end`, 'latin1');
    object(7, '<< /Type /Font /Subtype /Type0 /BaseFont /Glyphs /Encoding /Identity-H /DescendantFonts [8 0 R] /ToUnicode 9 0 R >>');
    object(8, '<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Glyphs /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 600 >>');
    object(9, `<< /Length ${map.length} >>`, map);
  }
  object(2, `<< /Type /Pages /Count ${pageNumbers.length} /Kids [${pageNumbers.map((n) => `${n} 0 R`).join(' ')}] >>`);
  let outlines = '';
  if (spec.outline !== undefined) {
    const items = spec.outline.map(() => fresh());
    for (const [index, item] of spec.outline.entries()) {
      const links = [
        index > 0 ? `/Prev ${items[index - 1]} 0 R` : '',
        index < items.length - 1 ? `/Next ${items[index + 1]} 0 R` : '',
      ].join(' ');
      object(items[index]!, `<< /Title (${item.title}) /Parent 5 0 R ${links} /Dest [${pageNumbers[item.page]} 0 R /Fit] >>`);
    }
    object(5, `<< /Type /Outlines /First ${items[0]} 0 R /Last ${items.at(-1)} 0 R /Count ${items.length} >>`);
    outlines = '/Outlines 5 0 R';
  }
  if (spec.ballast !== undefined) object(fresh(), `<< /Length ${spec.ballast.length} >>`, spec.ballast);
  const form = fields.length > 0 ? `/AcroForm << /Fields [${fields.map((n) => `${n} 0 R`).join(' ')}] /DR << /Font << /F1 3 0 R >> >> /DA (/F1 12 Tf 0 g) /NeedAppearances true >>` : '';
  object(1, `<< /Type /Catalog /Pages 2 0 R ${outlines} ${form} >>`);
  object(6, `<< ${spec.title === undefined ? '' : `/Title (${spec.title})`} >>`);
  const start = length;
  put(`xref\n0 ${next}\n0000000000 65535 f \n`);
  for (let number = 1; number < next; number += 1) {
    const offset = offsets[number];
    put(offset === undefined ? '0000000000 65535 f \n' : `${String(offset).padStart(10, '0')} 00000 n \n`);
  }
  put(`trailer\n<< /Size ${next} /Root 1 0 R /Info 6 0 R >>\nstartxref\n${start}\n%%EOF\n`);
  return Buffer.concat(chunks);
}

const escape = (text: string): string => text.replaceAll(/[\\()]/g, '\\$&');

/** A page that is nothing but a picture of so many dpi, as a scanner makes it. */
export function scanPage(jpeg: Uint8Array, width: number, height: number, dpi: number, rotate = 0): PageSpec {
  const [w, h] = [(width * 72) / dpi, (height * 72) / dpi];
  return { content: `q ${w} 0 0 ${h} 0 0 cm /Im1 Do Q`, width: w, height: h, rotate, scan: { jpeg, width, height, gray: true } };
}

/** One line of text at a place, in /F1 of a size. */
export const line = (text: string, x: number, y: number, size = 11): string => `BT /F1 ${size} Tf 1 0 0 1 ${x} ${y} Tm (${escape(text)}) Tj ET\n`;

/** Lines below each other from the top of the page. */
export const lines = (texts: string[], x = 72, top = 720, size = 11): string =>
  texts.map((text, index) => line(text, x, top - index * size * 1.3, size)).join('');
