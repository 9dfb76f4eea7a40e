/** `sergo doctor`: what is here, what is missing, and what each missing thing costs. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';
import { createSandbox, type SandboxMode } from '../sandbox/index.ts';
import { lockDataFolder } from '../storage/data-folder-lock.ts';
import { formatTable } from './terminal.ts';

export interface Check {
  name: string;
  /** `failed`: Sergo does not run properly without it. `missing`: it runs, and `cost` says what it cannot do. */
  state: 'ok' | 'missing' | 'failed';
  found: string;
  /** What its absence costs; only when it is not ok. */
  cost?: string;
  /** The Debian package that brings it, where there is one. */
  package?: string;
}

interface Program {
  name: string;
  command: [string, ...string[]];
  cost: string;
  package: string;
}

const programs: Program[] = [
  {
    name: 'LibreOffice',
    command: ['soffice', '--version'],
    cost: 'no PDF copies: pages of Word, PowerPoint and Excel files cannot be looked at, and Word pages stay estimates',
    package: 'libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui',
  },
  {
    name: 'Python with UNO',
    command: ['/usr/bin/python3', '-c', 'import uno, sys; print("Python " + sys.version.split()[0])'],
    cost: 'LibreOffice cannot be kept warm: no PDF copies; without Python itself no text recognition either',
    package: 'python3-uno',
  },
  {
    name: 'qpdf',
    command: ['qpdf', '--version'],
    cost: 'no searchable PDFs of scans are kept (their text is recognised and found all the same), and one-page PDFs are cut by PDFium and come out larger',
    package: 'qpdf',
  },
  {
    name: 'tesseract',
    command: ['tesseract', '--version'],
    cost: 'no text recognition: scanned pages can be looked at but not searched',
    package: 'tesseract-ocr',
  },
];

const fonts = [
  { name: 'Carlito', instead: 'Calibri', package: 'fonts-crosextra-carlito' },
  { name: 'Caladea', instead: 'Cambria', package: 'fonts-crosextra-caladea' },
  { name: 'Liberation Sans', instead: 'Arial', package: 'fonts-liberation2' },
  { name: 'Noto Sans CJK JP', instead: 'Chinese, Japanese and Korean fonts', package: 'fonts-noto-cjk' },
  { name: 'DejaVu Sans', instead: 'Verdana', package: 'fonts-dejavu-core' },
];

const FREE_BYTES_WANTED = 2 ** 30;

/** The first line that a program prints about itself, or null when it is not there or does not run. */
function ask([command, ...args]: [string, ...string[]]): string | null {
  const run = spawnSync(command, args, { encoding: 'utf8', timeout: 20_000 });
  if (run.status !== 0) return null;
  return `${run.stdout}${run.stderr}`.trim().split('\n')[0] ?? '';
}

export async function examine(config: Config): Promise<Check[]> {
  return [
    checkNode(),
    ...checkDataFolder(config.dataFolder),
    await checkSandbox(),
    ...programs.map(checkProgram),
    ...checkFonts(),
  ];
}

function checkNode(): Check {
  const good = Number(process.versions.node.split('.')[0]) >= 24;
  const found = process.versions.node;
  return good
    ? { name: 'Node', state: 'ok', found }
    : { name: 'Node', state: 'failed', found, cost: 'Sergo needs Node 24 or newer; run bin/start' };
}

function checkDataFolder(folder: string): Check[] {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  const checks: Check[] = [];
  try {
    accessSync(existing, constants.W_OK);
    checks.push({
      name: 'Data folder',
      state: 'ok',
      found: existing === folder ? `${folder}${inUse(folder)}` : `${folder} (made at the first start)`,
    });
  } catch {
    checks.push({
      name: 'Data folder',
      state: 'failed',
      found: folder,
      cost: 'it cannot be written by this user; set SERGO_DATA',
    });
  }
  const { bavail, bsize } = statfsSync(existing);
  const free = bavail * bsize;
  const found = `${(free / 2 ** 30).toFixed(1)} GiB free`;
  if (free >= FREE_BYTES_WANTED) checks.push({ name: 'Disk', state: 'ok', found });
  else
    checks.push({
      name: 'Disk',
      state: 'missing',
      found,
      cost: 'uploads are refused when the disk is full; free some space',
    });
  return checks;
}

function inUse(folder: string): string {
  if (!existsSync(`${folder}/lock.sqlite`)) return '';
  try {
    lockDataFolder(folder).release();
    return '';
  } catch (error) {
    return error instanceof AppError && error.code === 'conflict' ? ' (a server is running on it)' : '';
  }
}

async function checkSandbox(): Promise<Check> {
  let reason = '';
  const sandbox = await createSandbox({ log: (message) => (reason = message) });
  const mode: SandboxMode = sandbox.mode;
  if (mode === 'bubblewrap') return { name: 'Sandbox', state: 'ok', found: mode };
  return { name: 'Sandbox', state: 'missing', found: mode, cost: reason, package: 'bubblewrap' };
}

function checkProgram(program: Program): Check {
  const found = ask(program.command);
  if (found !== null) return { name: program.name, state: 'ok', found };
  return { name: program.name, state: 'missing', found: 'not found', cost: program.cost, package: program.package };
}

function checkFonts(): Check[] {
  const run = spawnSync('fc-list', [':', 'family'], { encoding: 'utf8', timeout: 20_000 });
  const families = new Set((run.stdout ?? '').split(/[\n,]/).map((name) => name.trim()));
  return fonts.map((font) => {
    const name = `Font ${font.name}`;
    if (families.has(font.name)) return { name, state: 'ok', found: 'installed' };
    const cost = `files that use ${font.instead} are drawn in another font, with other line and page breaks`;
    return { name, state: 'missing', found: 'not found', cost, package: font.package };
  });
}

export const isFit = (checks: readonly Check[]): boolean => checks.every((check) => check.state !== 'failed');

export function formatChecks(checks: readonly Check[]): string {
  const lines = [
    formatTable(
      checks.map((check) => [check.state === 'ok' ? 'ok' : check.state.toUpperCase(), check.name, check.found]),
    ),
  ];
  const wrong = checks.filter((check) => check.state !== 'ok');
  if (wrong.length === 0) return `${lines[0]}\n\nEverything is here.`;
  lines.push('', ...wrong.map((check) => `${check.name}: ${check.cost}.`));
  const packages = [...new Set(wrong.flatMap((check) => check.package?.split(' ') ?? []))];
  if (packages.length > 0)
    lines.push('', 'On Debian or Ubuntu:', `  sudo apt-get install -y --no-install-recommends ${packages.join(' ')}`);
  return lines.join('\n');
}
