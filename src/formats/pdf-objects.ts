/** Writes the objects of a new PDF one after another, and what a reader finds them by (PDF 32000-1, 7.5). */
export interface PdfObjects {
  /** `dictionary` as text, its `/Length` included where there is a stream. Numbers count from 1, without gaps, in any order. */
  object(number: number, dictionary: string, stream?: Uint8Array): void;
  /** The file; object 1 is its catalogue. */
  finish(): Uint8Array;
}

export function createPdfObjects(): PdfObjects {
  const chunks: Uint8Array[] = [];
  const offsets: number[] = [];
  let length = 0;
  const put = (piece: string | Uint8Array): void => {
    const bytes = typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece;
    chunks.push(bytes);
    length += bytes.byteLength;
  };
  put('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n');
  return {
    object(number, dictionary, stream) {
      offsets[number] = length;
      put(`${number} 0 obj\n${dictionary}\n`);
      if (stream !== undefined) {
        put('stream\n');
        put(stream);
        put('\nendstream\n');
      }
      put('endobj\n');
    },
    finish() {
      const start = length;
      const size = offsets.length;
      put(`xref\n0 ${size}\n0000000000 65535 f \n`);
      for (let number = 1; number < size; number += 1) put(`${String(offsets[number]).padStart(10, '0')} 00000 n \n`);
      put(`trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
      return Buffer.concat(chunks);
    },
  };
}
