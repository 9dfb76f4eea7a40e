import { isUtf8 } from 'node:buffer';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';

const run = promisify(execFile);

/** Words (letters and digits, folded) that another program finds in the file: pdftotext, LibreOffice's text export, or the file itself. */
export async function independentWords(path: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sergo-words-'));
  try {
    const head = (await readFile(path)).subarray(0, 5).toString('latin1');
    if (head === '%PDF-') return wordsOf((await run('pdftotext', ['-q', '-enc', 'UTF-8', path, '-'], { maxBuffer: 1 << 28 })).stdout);
    const kind = extname(path).slice(1).toLowerCase();
    if (['txt', 'md', 'csv', 'tsv'].includes(kind)) return isUtf8(await readFile(path)) ? wordsOf(await readFile(path, 'utf8')) : [];
    if (['pptx', 'ppt', 'odp'].includes(kind)) {
      await office(path, 'pdf', folder);
      const [made] = await readdir(folder);
      return made ? wordsOf((await run('pdftotext', ['-q', '-enc', 'UTF-8', join(folder, made), '-'], { maxBuffer: 1 << 28 })).stdout) : [];
    }
    if (['docx', 'docm', 'doc', 'odt', 'rtf', 'html'].includes(kind)) {
      await office(kind === 'docx' ? await withChangesAccepted(path, folder) : path, 'txt:Text (encoded):UTF8', folder);
      const made = (await readdir(folder)).find((name) => name.endsWith('.txt'));
      return made ? wordsOf(await readFile(join(folder, made), 'utf8')) : [];
    }
    return [];
  } catch {
    return [];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The same file without what its tracked changes deleted: LibreOffice's text export has that too, and a reader does not. */
async function withChangesAccepted(path: string, folder: string): Promise<string> {
  const parts = unzipSync(await readFile(path));
  const document = parts['word/document.xml'];
  if (document === undefined || !/<w:(?:del|moveFrom) /.test(strFromU8(document))) return path;
  const accepted = strFromU8(document)
    // The mark of a deleted paragraph's end stands without content.
    .replaceAll(/<w:(del|moveFrom) [^>]*\/>/g, '')
    .replaceAll(/<w:(del|moveFrom) .*?<\/w:\1>/gs, '');
  const made = join(folder, 'accepted.docx');
  await writeFile(made, zipSync({ ...parts, 'word/document.xml': strToU8(accepted) }));
  return made;
}

const office = (path: string, to: string, folder: string): Promise<unknown> =>
  run('soffice', [`-env:UserInstallation=file://${folder}-profile`, '--headless', '--convert-to', to, '--outdir', folder, path], { timeout: 60_000 });

/** Words longer than one character; hyphens at line ends joined, soft hyphens out, ligatures folded. */
export const wordsOf = (text: string): string[] =>
  text.normalize('NFKC').replaceAll('\u00ad', '').replace(/(\p{L})-\n(\p{L})/gu, '$1$2').toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];

/** Share of the independent words (with repeats) that `text` has too; null when there are none to compare. */
export function wordRecall(words: readonly string[], text: string): number | null {
  if (words.length === 0) return null;
  const have = new Map<string, number>();
  // A word that was joined or parted at a line end counts either way.
  const joined = text.normalize('NFKC').replaceAll('\u00ad', '').toLowerCase();
  for (const word of [...(joined.match(/[\p{L}\p{N}]{2,}/gu) ?? []), ...(joined.replace(/[-‐]\n?/gu, '').match(/[\p{L}\p{N}]{2,}/gu) ?? [])]) have.set(word, (have.get(word) ?? 0) + 1);
  const seen = new Map<string, number>();
  let found = 0;
  for (const word of words) {
    const count = (seen.get(word) ?? 0) + 1;
    seen.set(word, count);
    if (count <= (have.get(word) ?? 0)) found += 1;
  }
  return found / words.length;
}
