import { readdirSync, readFileSync } from 'node:fs';

const PAGE_BYTES = 4096;

interface Resident {
  /** `serve` and `worker`. */
  ours: number;
  /** Everything they started: sandboxed readers, LibreOffice. */
  children: number;
}

/** Resident bytes of a serve process, its worker, and apart from them of all they started. */
export function residentBytes(servePid: number): Resident {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // Gone between listing and reading.
    }
  }
  const result: Resident = { ours: 0, children: 0 };
  for (const pid of parents.keys()) {
    let at: number | undefined = pid;
    while (at !== undefined && at !== servePid) at = parents.get(at);
    if (at !== servePid) continue;
    try {
      const bytes = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (command.some((part) => part.endsWith('/main.ts')) && (command.includes('serve') || command.includes('worker'))) result.ours += bytes;
      else result.children += bytes;
    } catch {
      // Gone between listing and reading.
    }
  }
  return result;
}

/** Samples twice a second until it is stopped; answers the peaks. */
export function watchResident(servePid: number): { stop(): Resident } {
  const peak: Resident = { ours: 0, children: 0 };
  const timer = setInterval(() => {
    const now = residentBytes(servePid);
    peak.ours = Math.max(peak.ours, now.ours);
    peak.children = Math.max(peak.children, now.children);
  }, 500);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}
