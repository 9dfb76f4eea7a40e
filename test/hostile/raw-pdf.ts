/** Writes PDFs object by object, as wrong as asked for. */
import { deflateSync } from 'node:zlib';

/** A PDF from raw objects, numbered from 1; object 1 is the catalogue. No cross-reference table: readers rebuild it. */
export const rawPdf = (objects: readonly (string | Buffer)[], trailer = '/Root 1 0 R'): Buffer =>
  Buffer.concat([
    Buffer.from('%PDF-1.7\n'),
    ...objects.flatMap((body, index) => [Buffer.from(`${index + 1} 0 obj\n`), typeof body === 'string' ? Buffer.from(body, 'latin1') : body, Buffer.from('\nendobj\n')]),
    Buffer.from(`trailer\n<< ${trailer} >>\n%%EOF\n`),
  ]);

export const stream = (dictionary: string, data: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from(`<< ${dictionary} /Length ${data.length} >>\nstream\n`), Buffer.from(data), Buffer.from('\nendstream')]);

export const page = (more: string, parent = 2, box = '[0 0 600 800]'): string => `<< /Type /Page /Parent ${parent} 0 R /MediaBox ${box} ${more} >>`;
export const onePage = '<< /Type /Pages /Count 1 /Kids [3 0 R] >>';
export const catalogue = '<< /Type /Catalog /Pages 2 0 R >>';

/** A page whose content is deflated twice: some KB that are `megabytes` MiB of operators. */
export function twiceDeflated(megabytes: number): Buffer {
  const once = deflateSync(Buffer.alloc(megabytes * 2 ** 20, 'q Q '), { level: 1 });
  return rawPdf([catalogue, onePage, page('/Contents 4 0 R'), stream('/Filter [/FlateDecode /FlateDecode]', deflateSync(once, { level: 9 }))]);
}

/** An object stream that claims and holds a great many objects. */
export function objectStream(count: number, padding: number): Buffer {
  const body = `${' '.repeat(padding)}null `;
  const index = Array.from({ length: count }, (_, at) => `${at + 10} ${at * body.length}`).join(' ');
  const packed = deflateSync(Buffer.from(index + ' ' + body.repeat(count)), { level: 9 });
  return rawPdf([catalogue, onePage, page(''), stream(`/Type /ObjStm /N ${count} /First ${index.length + 1} /Filter /FlateDecode`, packed)]);
}
