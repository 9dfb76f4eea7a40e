import { AppError } from '../errors.ts';

const folderNameLimit = 120;
/** Bytes of UTF-8: what file systems take, so that a download keeps its name. */
const fileNameLimit = 255;

/** Control characters, bidi overrides and isolates, Unicode tags, soft hyphen, byte-order mark. Not ZWJ and ZWNJ: emoji and Persian need them. */
const unseen = /[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** One line of display text: NFC, white space runs with a control character as one space, nothing unseen, no space around. */
export function cleanLine(raw: string): string {
  return raw.toWellFormed().replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ').replace(unseen, '').normalize('NFC').trim();
}

/**
 * A folder's name as it is kept (trust.md 5.5). AppError invalid with field `name`: a path is an argument form of the doors, so
 * that `/` and `\` would make names ambiguous; 120 characters, because descriptions carry names whole.
 */
export function cleanFolderName(raw: string): string {
  const wrong = (message: string): AppError => new AppError('invalid', message, { field: 'name' });
  const name = cleanLine(raw);
  if (isBlank(name)) throw wrong('A folder needs a name with at least one visible character');
  if (/[/\\]/.test(name)) throw wrong('A folder name cannot contain / or \\ — make a folder inside a folder instead');
  if (name === '.' || name === '..') throw wrong(`A folder cannot be named '${name}' — choose a word`);
  const length = Array.from(name).length;
  if (length > folderNameLimit) throw wrong(`A folder name has at most ${folderNameLimit} characters — this one has ${length}`);
  return name;
}

/**
 * A file's display name as it is kept (trust.md 5.1, row 10): the last part of a path, cleaned, at most 255 bytes with its
 * extension kept. Never used to name anything on disk. Whatever comes in, something readable comes out.
 */
export function cleanFileName(raw: string): string {
  const last = cleanLine(raw.toWellFormed().split(/[/\\]/).at(-1) ?? '');
  if (isBlank(last) || /^\.+$/.test(last)) return 'untitled';
  return cutToBytes(last, fileNameLimit);
}

/** What makes two names the same among siblings: NFC and case folded (`Straße` = `STRASSE` = `STRAẞE`, `Σ` = `ς`). */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

/** By its name, until the content has been read: `pdf`, `docx`, …; `file` when the name says nothing. */
export function typeByName(name: string): string {
  const extension = /\.([A-Za-z0-9]{1,8})$/.exec(name)?.[1]?.toLowerCase();
  return extension ?? 'file';
}

/** Nothing that leaves ink: spaces, joiners, marks without a letter, fillers. */
const isBlank = (name: string): boolean => !/[^\p{Z}\p{C}\p{M}\u115f\u1160\u3164\uffa0\u2800]/u.test(name);

function cutToBytes(name: string, limit: number): string {
  if (Buffer.byteLength(name) <= limit) return name;
  const extension = /\.[^.\s]{1,16}$/u.exec(name)?.[0] ?? '';
  const room = limit - Buffer.byteLength(extension);
  let kept = '';
  let bytes = 0;
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(name.slice(0, name.length - extension.length))) {
    bytes += Buffer.byteLength(segment);
    if (bytes > room) break;
    kept += segment;
  }
  return `${kept.trimEnd()}${extension}`;
}
