/** The text of a file as other programs find it: pdftotext, LibreOffice's exports, Python's mail parser, or the file itself. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import iconv from 'iconv-lite';

const run = promisify(execFile);

export interface FileToExtract {
  path: string;
  /** What it is by its content, as Sergo's documents have it. */
  type: string;
  /** Of text that is not UTF-8. */
  encoding?: string;
}

/**
 * `pages` where the other program knows pages, sheets or chapters, else one text of the `whole`. `around`: what else is in the file and
 * may be said of it.
 */
export type IndependentText = { pages: string[] } | { whole: string; around?: string };

/** What LibreOffice is asked for, and the types that it is asked about. */
const exportsOf: Record<string, { to: string; types: string[] }> = {
  pdf: { to: 'pdf', types: ['pptx', 'ppt', 'odp'] },
  txt: { to: 'txt:Text (encoded):UTF8', types: ['docx', 'doc', 'odt', 'rtf'] },
  // Cells as they are shown, in UTF-8, every sheet a file of its own: its name follows the file's.
  csv: { to: 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1', types: ['xlsx', 'xls', 'ods'] },
};

/** Texts by path. LibreOffice is started once for each of its exports. A file that nothing could be made of is not in the answer. */
export async function independentTexts(files: readonly FileToExtract[]): Promise<Map<string, IndependentText>> {
  const texts = new Map<string, IndependentText>();
  const folder = await mkdtemp(join(tmpdir(), 'sergo-words-'));
  try {
    for (const [kind, { to, types }] of Object.entries(exportsOf)) {
      const asked = files.filter(({ type }) => types.includes(type));
      if (asked.length > 0) for (const [path, text] of await fromOffice(asked, kind, to, folder)) texts.set(path, text);
    }
    for (const file of files) {
      const text = await fromFile(file);
      if (text !== null) texts.set(file.path, text);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return texts;
}

/** Each page as pdftotext has it. */
export async function pdfPages(path: string): Promise<string[]> {
  // Damage is said by the exit code; what it found of such a file still counts.
  const { stdout } = await run('pdftotext', ['-q', '-enc', 'UTF-8', path, '-'], { maxBuffer: 1 << 28 }).catch((error: { stdout: string }) => ({ stdout: error.stdout }));
  return stdout.split('\f').slice(0, -1);
}

async function fromOffice(files: readonly FileToExtract[], kind: string, to: string, folder: string): Promise<Map<string, IndependentText>> {
  const given = join(folder, kind);
  await mkdir(given);
  // Numbered names, of a kind that LibreOffice does not mistake for another.
  const inputs = files.map(({ type }, at) => join(given, `${String(at).padStart(3, '0')}.${type}`));
  for (const [at, { path, type }] of files.entries()) {
    const accepted = type === 'docx' ? await withChangesAccepted(path) : null;
    await (accepted === null ? symlink(path, inputs[at]!) : writeFile(inputs[at]!, accepted));
  }
  const profile = `-env:UserInstallation=file://${folder}/profile`;
  const { stdout } = await run('soffice', [profile, '--headless', '--convert-to', to, '--outdir', join(folder, `${kind}-made`), ...inputs], { timeout: 120_000 });
  const texts = new Map<string, IndependentText>();
  // It says what it writes, sheets in the order of the workbook.
  for (const [, written] of stdout.matchAll(/ -> (\S+-made\/.*?\.(?:pdf|txt|csv))(?: using filter .*)?$/gm)) {
    const { path } = files[Number(/^\d+/.exec(basename(written!)))]!;
    const before = texts.get(path);
    if (kind === 'pdf') texts.set(path, { pages: await pdfPages(written!) });
    else if (kind === 'txt') texts.set(path, { whole: await readFile(written!, 'utf8') });
    else texts.set(path, { pages: [...(before && 'pages' in before ? before.pages : []), await readFile(written!, 'utf8')] });
  }
  return texts;
}

async function fromFile({ path, type, encoding }: FileToExtract): Promise<IndependentText | null> {
  switch (type) {
    case 'pdf':
      return { pages: await pdfPages(path) };
    case 'txt':
    case 'md':
    case 'csv':
      return { whole: iconv.decode(await readFile(path), encoding ?? 'utf8') };
    case 'html':
      return { whole: withoutTags(await readFile(path, 'utf8')) };
    case 'epub':
      return { pages: chaptersOf(await readFile(path)) };
    case 'eml':
      return { whole: (await run('python3', ['-c', mailText, path])).stdout };
    case 'msg':
      return outlookText(iconv.decode(await readFile(path), encoding ?? 'utf16le'));
    default:
      return null;
  }
}

const mailText = `
import email, email.policy, sys
with open(sys.argv[1], 'rb') as file:
    mail = email.message_from_binary_file(file, policy=email.policy.default)
for name in ('subject', 'from', 'to', 'cc', 'date'):
    print(mail.get(name, ''))
for part in mail.iter_attachments():
    print(part.get_filename())
print(mail.get_body(('plain', 'html')).get_content())
`;

/** The longest run of text without markup in the raw bytes is the body; the others are its headers, older versions and the like. */
function outlookText(raw: string): IndependentText {
  // oxlint-disable-next-line no-control-regex
  const runs = raw.match(/[^\0-\x08\x0b\x0c\x0e-\x1f\ufffd]{4,}/g) ?? [];
  const [body = ''] = runs.filter((text) => !/<\w+[ >]/.test(text)).toSorted((a, b) => b.length - a.length);
  return { whole: body, around: runs.join('\n') };
}

/** Chapters in the order of the spine. */
function chaptersOf(bytes: Uint8Array): string[] {
  const parts = unzipSync(bytes);
  const name = Object.keys(parts).find((each) => each.endsWith('.opf'))!;
  const opf = strFromU8(parts[name]!);
  const hrefs = new Map([...opf.matchAll(/<item\s[^>]*>/g)].map(([item]) => [/\sid="([^"]+)"/.exec(item)?.[1], /\shref="([^"]+)"/.exec(item)?.[1]]));
  return [...opf.matchAll(/<itemref\s[^>]*idref="([^"]+)"/g)].map(([, id]) => withoutTags(strFromU8(parts[join(name, '..', hrefs.get(id!)!)]!)));
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', ndash: '–', mdash: '—' };

/** What stands between the tags of a page's body. */
function withoutTags(html: string): string {
  return html
    .replace(/^.*?<body\b[^>]*>/is, '')
    .replace(/<!--.*?-->|<(script|style)\b.*?<\/\1>/gis, '')
    .replace(/<\/?(?:a|abbr|b|bdi|cite|em|i|q|small|span|strong|sub|sup)\b[^>]*>/gi, '')
    .replace(/<[^>]+>/g, '\n')
    .replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal?: string, hex?: string, name?: string) =>
      name === undefined ? String.fromCodePoint(decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal)) : (entities[name] ?? whole),
    );
}

/** The same Word file without what its tracked changes deleted: LibreOffice's text export has that too, and a reader does not. */
async function withChangesAccepted(path: string): Promise<Uint8Array | null> {
  const parts = unzipSync(await readFile(path));
  const document = parts['word/document.xml'];
  if (document === undefined || !/<w:(?:del|moveFrom) /.test(strFromU8(document))) return null;
  const accepted = strFromU8(document)
    // The mark of a deleted paragraph's end stands without content.
    .replaceAll(/<w:(del|moveFrom) [^>]*\/>/g, '')
    .replaceAll(/<w:(del|moveFrom) .*?<\/w:\1>/gs, '');
  return zipSync({ ...parts, 'word/document.xml': strToU8(accepted) });
}
