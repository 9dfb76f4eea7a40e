/** What a running Sergo's processes are and use, read from /proc: for tests and benchmarks. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const PAGE_BYTES = 4096;

const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // Gone between listing and reading.
    return '';
  }
};

export interface Process {
  pid: number;
  parent: number;
  command: string[];
}

/** Living processes below this one, zombies left out. */
export function descendants(root: number): Process[] {
  const all: Process[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = read(`/proc/${name}/stat`);
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (parent === undefined || state === 'Z' || state === 'X') continue;
    all.push({ pid: Number(name), parent: Number(parent), command: read(`/proc/${name}/cmdline`).split('\0') });
  }
  const found: Process[] = [];
  for (let parents = [root]; parents.length > 0; ) {
    const children = all.filter((each) => parents.includes(each.parent));
    found.push(...children);
    parents = children.map((each) => each.pid);
  }
  return found;
}

export const isWorker = (process: Process): boolean => process.command.includes('worker') && process.command.some((part) => part.endsWith('/main.ts'));

/** The worker below this `serve`, or undefined while it is being started again. */
export const workerOf = (serve: number): number | undefined => descendants(serve).find((each) => each.parent === serve && isWorker(each))?.pid;

/** Sandboxed programs: everything below `serve` but the worker, and the children of the worker. */
export const sandboxed = (serve: number): Process[] => descendants(serve).filter((each) => !isWorker(each));

export const residentBytes = (pid: number): number => Number(read(`/proc/${pid}/statm`).split(' ')[1] ?? 0) * PAGE_BYTES;

/** The most it ever had resident, by the kernel. */
export const mostResidentBytes = (pid: number): number => Number(/^VmHWM:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;

export const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;

/** The network namespace it lives in, such as `net:[4026531840]`; empty when it is gone or may not be asked. */
export function networkOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return '';
  }
}

/** Packets that any interface of a process's network namespace has sent or received so far. */
export function packetsOf(pid: number): number {
  let packets = 0;
  for (const line of read(`/proc/${pid}/net/dev`).split('\n').slice(2)) {
    const fields = line.replace(/^[^:]*:/, '').trim().split(/\s+/).map(Number);
    if (fields.length >= 10) packets += fields[1]! + fields[9]!;
  }
  return packets;
}
