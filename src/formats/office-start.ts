import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import type { Child, Limits, Sandbox } from '../sandbox/index.ts';

/** Where LibreOffice is, how one is started in the sandbox, and the one that is kept running for the next file. */

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

export interface Spare {
  /** The one that runs, or undefined. It is the caller's from now on. */
  take(): Promise<Child | undefined>;
  /** Starts none before `refill` is called. */
  hold(): void;
  /** Nothing is converted any more: one is started when that lasts. */
  refill(): void;
  close(): Promise<void>;
}

const FIRST_MS = 1_000;
const QUIET_MS = 10_000;

/** A LibreOffice that has seen no file. Starting one takes a processor for two seconds, so it is done when there is nothing else to do. */
export function createSpare({ start, wanted, quietMs = QUIET_MS }: { start(): Promise<Child>; wanted: boolean; quietMs?: number }): Spare {
  let spare: Promise<Child | undefined> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const refill = (afterMs: number): void => {
    clearTimeout(timer);
    if (!wanted || spare !== undefined) return;
    timer = setTimeout(() => {
      // One that does not start says so to the file that starts its own.
      spare = start().catch(() => undefined);
    }, afterMs);
    timer.unref();
  };
  refill(FIRST_MS);
  return {
    async take() {
      const taken = spare;
      // At once: no two lanes may have the same.
      spare = undefined;
      const child = await taken;
      return child?.alive ? child : undefined;
    },
    hold: () => clearTimeout(timer),
    refill: () => refill(quietMs),
    async close() {
      clearTimeout(timer);
      await (await spare)?.stop();
      spare = undefined;
    },
  };
}
