import type { Sandbox } from '../sandbox/index.ts';

/** Which fonts a file needs for its layout, against those that the server has. */

/** Families with the same widths: lines and pages break where the original's do. */
const sameWidths: Record<string, string[]> = {
  calibri: ['carlito'],
  cambria: ['caladea'],
  arial: ['liberation sans', 'arimo'],
  helvetica: ['liberation sans', 'arimo', 'nimbus sans'],
  'arial narrow': ['liberation sans narrow'],
  'times new roman': ['liberation serif', 'tinos'],
  times: ['liberation serif', 'tinos', 'nimbus roman'],
  'courier new': ['liberation mono', 'cousine'],
  courier: ['liberation mono', 'cousine', 'nimbus mono ps'],
  georgia: ['gelasio'],
};

/** Fonts of signs, which every office program draws with its own. */
const signs = /^(symbol|wingdings( [23])?|webdings|mt extra|cambria math|opensymbol|segoe ui (emoji|symbol)|marlett)$/i;

/** "Font Garamond is missing on this server: …", or nothing when all are there or have a stand-in of the same widths. */
export function missingFontNotice(used: Iterable<string>, available: ReadonlySet<string>): string | undefined {
  const missing = new Map<string, string>();
  for (const raw of used) {
    const name = raw.trim();
    const key = name.toLowerCase();
    if (name === '' || name.startsWith('+') || signs.test(name)) continue;
    if (available.has(key) || sameWidths[key]?.some((family) => available.has(family))) continue;
    if (!missing.has(key)) missing.set(key, name);
  }
  if (missing.size === 0) return undefined;
  const names = [...missing.values()].slice(0, 5);
  const list = names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
  return `${names.length === 1 ? 'Font' : 'Fonts'} ${list} ${names.length === 1 ? 'is' : 'are'} missing on this server: lines and pages of its PDF copy may break elsewhere than in the original`;
}

const eastAsian = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303f\uff00-\uffef]/u;

/** Has it letters that office programs write in a font of their own for Chinese, Japanese and Korean? Every style names one, used or not. */
export const isEastAsian = (text: string): boolean => eastAsian.test(text);

/** Families installed here, lower case; empty where fontconfig cannot say. */
export async function listFontFamilies(sandbox: Sandbox): Promise<string[]> {
  try {
    const result = await sandbox.runTool({ command: '/usr/bin/fc-list', args: [':', 'family'], binds: ['/etc/fonts', '/var/cache/fontconfig', '/usr/local/share/fonts'], limits: { wallMs: 20_000 } });
    if (result.code !== 0) return [];
    const families = Buffer.from(result.stdout).toString('utf8').split(/[\n,]/).map((family) => family.trim().toLowerCase());
    return [...new Set(families.filter((family) => family !== ''))];
  } catch {
    return [];
  }
}
