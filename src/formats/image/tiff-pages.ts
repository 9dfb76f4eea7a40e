/** Which directories of a TIFF are pages: reduced copies of another one (previews, bit 0 of NewSubfileType) are not. */

const NEW_SUBFILE_TYPE = 254;

/** Indexes of full pages among the first `count`; all of them for a file whose directories cannot be followed. */
export function fullPages(bytes: Uint8Array, count: number): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const little = bytes[0] === 0x49;
  const pages: number[] = [];
  try {
    // 42 is classic TIFF; a large one (43) counts its offsets in eight bytes and hardly ever holds previews.
    if (view.getUint16(2, little) !== 42) return Array.from({ length: count }, (_, index) => index);
    let at = view.getUint32(4, little);
    for (let index = 0; index < count && at !== 0; index += 1) {
      const entries = view.getUint16(at, little);
      let reduced = false;
      for (let entry = at + 2; entry < at + 2 + entries * 12; entry += 12) {
        if (view.getUint16(entry, little) === NEW_SUBFILE_TYPE) reduced = (view.getUint32(entry + 8, little) & 1) === 1;
      }
      if (!reduced) pages.push(index);
      at = view.getUint32(at + 2 + entries * 12, little);
    }
  } catch {
    return Array.from({ length: count }, (_, index) => index);
  }
  return pages.length > 0 ? pages : [0];
}
