import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import type { Child, Limits, Sandbox } from '../sandbox/index.ts';

/** Where LibreOffice is, and how one is started in the sandbox. */

const officeFolders = ['/usr/lib/libreoffice', '/usr/lib64/libreoffice', ...globSync('/opt/libreoffice*')];
const unoFolders = ['/usr/lib/python3/dist-packages/uno.py', ...globSync('/usr/lib*/python3*/site-packages/uno.py'), '/usr/lib/libreoffice/program/uno.py'];

export interface OfficePrograms {
  office: string | undefined;
  python: string | undefined;
}

export function findPrograms(): OfficePrograms {
  const office = officeFolders.map((folder) => join(folder, 'program/soffice.bin')).find(existsSync);
  const hasUno = existsSync('/usr/bin/python3') && unoFolders.some(existsSync);
  return { office, python: hasUno ? '/usr/bin/python3' : undefined };
}

/** Null when LibreOffice is there, else what is missing and what that costs, as a sentence. */
export function missingSentence({ office, python }: OfficePrograms): string | null {
  const absent = [...(office === undefined ? ['LibreOffice'] : []), ...(python === undefined ? ['python3-uno'] : [])];
  if (absent.length === 0) return null;
  return `${absent.join(' and ')} ${absent.length > 1 ? 'are' : 'is'} not installed on this server, so office files get no PDF copy and old office files are not read`;
}

/** Resolves when it takes files; throws LimitHit or ChildDied when it does not get there. */
export function startOffice(
  sandbox: Sandbox,
  programs: OfficePrograms,
  limits: Partial<Limits>,
  { startMs, signal }: { startMs: number; signal?: AbortSignal | undefined },
): Promise<Child> {
  const driver = join(import.meta.dirname, 'office-driver.py');
  return sandbox.startChild({
    command: programs.python!,
    // -I: nothing from the environment or the current folder is imported; -S stays off, python3-uno lives in dist-packages.
    args: ['-I', '-B', driver, programs.office!, '{tmp}'],
    binds: [driver, '/etc/libreoffice', '/etc/fonts', '/var/cache/fontconfig', ...officeFolders.filter((folder) => folder.startsWith('/opt') && existsSync(folder))],
    env: { SAL_USE_VCLPLUGIN: 'svp', SAL_DISABLE_OPENCL: '1' },
    limits: { memoryBytes: 3 * 1024 ** 3, cpuMs: 60_000, tmpBytes: 2 * 1024 ** 3, fileBytes: 1024 ** 3, stdoutBytes: 256 * 1024 ** 2, openFiles: 1024, ...limits },
    startMs: Math.min(startMs, 60_000),
    ...(signal && { signal }),
  });
}
