/** A tiny PDF writer for tests: pages of Helvetica text, nothing else. */

export interface PdfPage {
  /** Lines are separated by `\n`; only characters of Latin-1 (the font's encoding). */
  text: string;
  /** Points. Default A4. */
  width?: number;
  height?: number;
  rotate?: 0 | 90 | 180 | 270;
  /** Further drawing operators, put before the text (`0 0 200 100 re f`). */
  drawing?: string;
}

const escapeText = (line: string): string => line.replace(/[\\()]/g, (char) => `\\${char}`);

function pageContent(page: PdfPage, height: number): string {
  if (/[^\n\x20-\xff]/.test(page.text)) throw new Error('makePdf writes Latin-1 text only');
  const lines = page.text.split('\n').map((line) => `(${escapeText(line)}) Tj T*`);
  const text = page.text === '' ? '' : `BT /F1 12 Tf 14 TL 50 ${height - 60} Td ${lines.join('\n')} ET`;
  return `${page.drawing ?? ''}\n${text}`;
}

/** Bytes of a PDF 1.4 file with these pages, in order. A string is a page with that text. */
export function makePdf(pages: readonly (PdfPage | string)[], title?: string): Uint8Array {
  const objects: string[] = [];
  const add = (body: string): number => objects.push(body);
  const catalog = add('<< /Type /Catalog /Pages 2 0 R >>');
  add(''); // the page tree, number 2, written once the kids are known
  const font = add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>');
  const kids = pages.map((entry) => {
    const page = typeof entry === 'string' ? { text: entry } : entry;
    const [width, height] = [page.width ?? 595, page.height ?? 842];
    const content = pageContent(page, height);
    const stream = add(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
    return add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Rotate ${page.rotate ?? 0} ` +
        `/Resources << /Font << /F1 ${font} 0 R >> >> /Contents ${stream} 0 R >>`,
    );
  });
  objects[1] = `<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(' ')}] >>`;
  const info = add(`<< /Producer (Sergo tests)${title === undefined ? '' : ` /Title (${escapeText(title)})`} >>`);

  let file = '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n';
  const offsets = objects.map((body, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const xref = file.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  file += `trailer\n<< /Size ${objects.length + 1} /Root ${catalog} 0 R /Info ${info} 0 R >>\nstartxref\n${xref}\n%%EOF\n`;
  return Uint8Array.from(Buffer.from(file, 'latin1'));
}
