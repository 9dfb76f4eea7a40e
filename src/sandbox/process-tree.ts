import { readFileSync, readdirSync } from 'node:fs';

/** A process and all it started, read from /proc. Where there is no /proc every answer is empty or 0. */

const PAGE_BYTES = 4096;
/** USER_HZ, which Linux fixes at 100 for what /proc shows. */
const TICK_MS = 10;

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/** The process and its descendants, parents first. */
export function listTree(root: number): number[] {
  const found = [root];
  for (let i = 0; i < found.length; i += 1) {
    const pid = found[i]!;
    let threads: string[];
    try {
      threads = readdirSync(`/proc/${pid}/task`);
    } catch {
      continue;
    }
    // Any thread may fork: children hang on the thread that made them.
    for (const thread of threads) {
      for (const child of readProc(pid, `task/${thread}/children`).split(' ')) {
        if (child !== '') found.push(Number(child));
      }
    }
  }
  return found;
}

export interface TreeUse {
  residentBytes: number;
  /** User and system time of living processes and of those they have waited for. */
  cpuMs: number;
  pids: number[];
}

export const measureTree = (root: number): TreeUse => measureProcesses(listTree(root));

/** Those that have ended count as nothing. */
export function measureProcesses(pids: number[]): TreeUse {
  let residentBytes = 0;
  let cpuMs = 0;
  for (const pid of pids) {
    residentBytes += Number(readProc(pid, 'statm').split(' ')[1] ?? 0) * PAGE_BYTES;
    const stat = readProc(pid, 'stat');
    // The name in parentheses may hold spaces; fields count from behind it. 14-17: utime, stime, cutime, cstime.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    for (const at of [11, 12, 13, 14]) cpuMs += Number(fields[at] ?? 0) * TICK_MS;
  }
  return { residentBytes, cpuMs, pids };
}

/** Living processes whose environment carries this mark: also those that left the tree by forking twice. */
export function listMarked(mark: string): number[] {
  const found: number[] = [];
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return found;
  }
  for (const name of names) {
    const pid = Number(name);
    if (Number.isInteger(pid) && pid > 1 && readProc(pid, 'environ').includes(mark)) found.push(pid);
  }
  return found;
}

export function killPid(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

/** True while the process is there and not a zombie. */
export function isRunning(pid: number): boolean {
  const stat = readProc(pid, 'stat');
  const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
  return state !== '' && state !== 'Z' && state !== 'X';
}

/** When the process began, in ticks since the machine did; 0 when it is not there. Together with its number it is never the same again. */
export function startedAt(pid: number): number {
  const stat = readProc(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? 0);
}
