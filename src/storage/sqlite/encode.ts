/**
 * The one encoding layer: SQLite throws on binding booleans, Dates and objects, so that what a row means in TypeScript and
 * how it lies in a column is decided here and nowhere else.
 */
type Kind = 'bool' | 'json';
export type Codec = Readonly<Record<string, Kind>>;

export const documentCodec: Codec = {
  notices: 'json',
  progress: 'json',
  pagesEstimated: 'bool',
  pagesToView: 'json',
  imageOnlyPages: 'json',
};
export const askedCodec: Codec = { folders: 'json' };
export const pageCodec: Codec = { toView: 'bool', sections: 'json' };

/** TypeScript row (or part of one) to bindable values; `undefined` members are left out. */
export function encodeRow(codec: Codec, row: object): Record<string, string | number | null> {
  const out: Record<string, string | number | null> = {};
  for (const [name, value] of Object.entries(row)) {
    if (value === undefined) continue;
    const kind = codec[name];
    if (value === null) out[name] = null;
    else if (kind === 'bool') out[name] = value ? 1 : 0;
    else if (kind === 'json') out[name] = JSON.stringify(value);
    else out[name] = value as string | number;
  }
  return out;
}

/** The way back. The caller names the row type that the codec and the table make true. */
export function decodeRow<Row>(codec: Codec, row: object): Row {
  const out: Record<string, unknown> = { ...row };
  for (const [name, kind] of Object.entries(codec)) {
    const value = out[name];
    if (value === null || value === undefined) continue;
    out[name] = kind === 'bool' ? value === 1 : JSON.parse(value as string);
  }
  return out as Row;
}
