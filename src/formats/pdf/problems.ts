/** Why a PDF cannot be read, as sentences for the person who owns it: what is wrong, and what would be right. */

export type Problem = 'damaged' | 'password' | 'protection' | 'pages' | 'memory' | 'time' | 'crash';

interface Figures {
  memoryBytes: number;
  wallMs: number;
  total: number | undefined;
  maxPages: number;
}

const number = (value: number): string => value.toLocaleString('en-US');

function size(bytes: number): string {
  return bytes >= 1024 ** 3 ? `${Math.round((bytes / 1024 ** 3) * 10) / 10} GiB` : `${Math.round(bytes / 1024 ** 2)} MiB`;
}

export const sentences: Record<Problem, (figures: Figures) => string> & { empty(): string } = {
  empty: () => 'It is empty: the file has no bytes — upload it again',
  damaged: () => 'It is damaged: no page could be read — upload an intact copy',
  password: () => 'It needs a password to open — upload a copy without one',
  protection: () => 'It is protected in a way that cannot be opened here — upload a copy without protection',
  pages: (f) =>
    `Too large to read: it has ${number(f.total ?? 0)} pages, more than the ${number(f.maxPages)} allowed — split it and upload the parts`,
  memory: (f) => `Too large to read: it unpacks to more than ${size(f.memoryBytes)} — upload a smaller copy`,
  time: (f) => `Too slow to read: stopped within ${Math.round(f.wallMs / 1000)} seconds — upload a simpler copy`,
  crash: () => 'It is damaged: reading it ended without a result — upload an intact copy',
};

const causes: Record<Problem, string> = {
  damaged: 'it is damaged',
  password: 'it needs a password',
  protection: 'it is protected',
  pages: 'there are too many',
  memory: 'it needs more memory than is allowed',
  time: 'it takes too long',
  crash: 'it is damaged',
};

/** Said once of a document: its pages are read, but a picture of them is not whole. */
export const lackedFonts =
  'It uses letters of fonts that are neither in the file nor on this server: pictures of its pages lack them — install fonts-noto-cjk and fonts-dejavu-core, or upload a copy with its fonts embedded';

/** One page given up so that the others could be read. */
export const pageNotice = (page: number, problem: Problem): string => `Page ${page} could not be read: ${causes[problem]}`;
