import { paginate } from './flow.ts';
import { needsPassword } from './sniff.ts';
import { type Format, type ReadOptions, type ReadResult, UnreadableFile } from './types.ts';
import { isZip, openZip, type ZipEntry, type ZipLimits } from './zip.ts';

export interface ArchiveEntry {
  /** Cleaned: relative, `/` between folders, no `..`, no drive, no control or bidi characters, at most 255 bytes a name. */
  path: string;
  /** Inflated when asked for, counted against the archive's limits; throws UnreadableFile. */
  readonly bytes: Uint8Array;
  /** The same piece by piece; a piece is good until the next one. */
  stream(onPiece: (piece: Uint8Array) => void): void;
}

export interface Archive {
  entries: ArchiveEntry[];
  /** What was left out, as sentences. */
  notices: string[];
}

/** Files that systems leave in archives and nobody means to upload. */
const litter = /(^|\/)(__MACOSX\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$|\._[^/]*$|~\$[^/]*$)/i;

/** The files of a zip, names made harmless, links and litter left out. Archives inside stay files: depth is one (trust.md 2). */
export function unpackArchive(bytes: Uint8Array, limits: ZipLimits): Archive {
  const zip = openZip(bytes, limits);
  refuseOverlaps(zip.entries);
  const entries: ArchiveEntry[] = [];
  const taken = new Set<string>();
  let links = 0;
  let locked = 0;
  for (const entry of zip.entries) {
    if (entry.name.endsWith('/') || entry.name.endsWith('\\') || litter.test(entry.name.replaceAll('\\', '/'))) continue;
    if ((entry.unixMode & 0o170000) === 0o120000) {
      links++;
      continue;
    }
    if (entry.encrypted) {
      locked++;
      continue;
    }
    const path = freePath(cleanPath(entry.name), taken);
    entries.push({
      path,
      get bytes() {
        return zip.bytes(entry);
      },
      stream: (onPiece) => zip.stream(entry, onPiece),
    });
  }
  if (entries.length === 0) throw locked > 0 ? needsPassword() : new UnreadableFile('The archive holds no files — there is nothing to read');
  const notices = [
    ...(locked > 0 ? [`${locked} of its files need a password and were left out`] : []),
    ...(links > 0 ? [`${links} of its entries are links to other places and were left out`] : []),
  ];
  return { entries, notices };
}

/** Files that share their packed bytes: a few of them unpack to any amount, and no honest archive has them. */
function refuseOverlaps(entries: readonly ZipEntry[]): void {
  let end = 0;
  for (const entry of entries.filter((each) => each.packedBytes > 0).toSorted((a, b) => a.start - b.start)) {
    if (entry.start < end) throw new UnreadableFile('Refused: its files lie on top of each other, which only archives made to do harm have');
    end = entry.start + entry.packedBytes;
  }
}

/** A path that can only lie inside: a name that tries to leave (`../../x`, `/abs`, `C:\x`) becomes a plain one. */
export function cleanPath(name: string): string {
  const steps = name
    .normalize('NFC')
    .replaceAll('\\', '/')
    .replace(/^[A-Za-z]:/, '')
    .split('/')
    // Control characters, bidi marks and overrides, tag characters: nothing that hides what a name is.
    .map((step) => step.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu, '').replace(/[<>:"|?*]/g, '_').trim())
    .filter((step) => step !== '' && step !== '.' && step !== '..')
    .map(shorten);
  return steps.slice(-20).join('/') || 'file';
}

/** At most 255 bytes, the extension kept. */
function shorten(step: string): string {
  if (Buffer.byteLength(step) <= 255) return step;
  const extension = /\.[A-Za-z0-9]{1,8}$/.exec(step)?.[0] ?? '';
  let stem = step.slice(0, step.length - extension.length);
  while (Buffer.byteLength(stem) + extension.length > 255) stem = stem.slice(0, -1);
  return stem.toWellFormed() + extension;
}

function freePath(path: string, taken: Set<string>): string {
  let free = path;
  for (let count = 2; taken.has(free.toLowerCase()); count++) free = path.replace(/(\.[^./]*)?$/, ` (${count})$1`);
  taken.add(free.toLowerCase());
  return free;
}

/** The archive as a document of its own lists what is inside; its files come along as attachments. */
export function readArchive(bytes: Uint8Array, options: ReadOptions): ReadResult {
  const { entries, notices } = unpackArchive(bytes, { maxUnpackedBytes: options.maxUnpackedBytes });
  const pages = paginate([{ text: entries.map((entry) => entry.path).join('\n') }], { maxPages: options.maxPages });
  return {
    type: 'zip',
    pages,
    pagesEstimated: true,
    attachments: entries.map((entry) => ({
      name: entry.path,
      get bytes() {
        return entry.bytes;
      },
      stream: (onPiece) => entry.stream(onPiece),
    })),
    ...(notices.length > 0 && { notices }),
  };
}

export const zip: Format = {
  type: 'zip',
  sniff: isZip,
  read: async (bytes, options) => readArchive(bytes, options),
};
