import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Limits, SandboxMode } from './types.ts';

/** Builds the command line around a program. The reasons are in ../shared/trust.md section 2; measured there. */

/** `nobody`: what a sandboxed program runs as when the server itself is root. */
export const NOBODY = 65534;

export interface Wrapping {
  mode: SandboxMode;
  /** True when the server runs as root: the program then really runs as `nobody`. */
  asRoot: boolean;
  limits: Limits;
  command: string;
  args: string[];
  env: Record<string, string>;
  /** Host paths shown read-only at the same path. */
  binds: string[];
  /** Host folders shown as /in (read-only) and /out (writable). */
  inDir?: string;
  outDir?: string;
  /** Extra read-only files of /in that stay where they are on the host. */
  inFiles?: { name: string; path: string }[];
  /** Descriptor from which bubblewrap reads its system-call filter. */
  seccompDescriptor?: number;
}

/** The program with its kernel limits. CPU is rounded up to the second; the watchdog is the finer one. */
function limited(w: Wrapping): string[] {
  const { limits } = w;
  const cpu = Math.ceil(limits.cpuMs / 1000);
  return [
    '/usr/bin/prlimit',
    ...(limits.addressSpaceBytes > 0 ? [`--as=${limits.addressSpaceBytes}`] : []),
    // A warm child serves many requests: its CPU is watched per request, so 0 leaves the kernel's limit out.
    ...(cpu > 0 ? [`--cpu=${cpu}:${cpu + 1}`] : []),
    `--fsize=${limits.fileBytes}`,
    `--nofile=${limits.openFiles}`,
    '--core=0',
    '--',
    w.command,
    ...w.args,
  ];
}

const systemPaths = ['/usr/lib', '/usr/lib32', '/usr/lib64', '/usr/libexec', '/usr/bin', '/usr/share'];

/** Bubblewrap makes the folders above a bind with mode 0700, which `nobody` could not pass: they are made first. */
function parentDirs(paths: string[]): string[] {
  const parents = new Set<string>();
  for (const path of paths) {
    for (let at = dirname(path); at !== '/'; at = dirname(at)) parents.add(at);
  }
  return [...parents].toSorted().flatMap((path) => ['--perms', '0755', '--dir', path]);
}

/** Program folders. On merged-usr systems /lib and its kin are links into /usr; elsewhere they are bound as they are. */
function systemBinds(): string[] {
  const out: string[] = [];
  for (const path of systemPaths) {
    if (existsSync(path)) out.push('--ro-bind', path, path);
  }
  for (const path of ['/lib', '/lib32', '/lib64', '/bin']) {
    if (!existsSync(path)) continue;
    if (lstatSync(path).isSymbolicLink()) out.push('--symlink', readlinkSync(path), path);
    else out.push('--ro-bind', path, path);
  }
  return out;
}

export function wrapCommand(w: Wrapping): { command: string; args: string[] } {
  const inner = limited(w);
  if (w.mode === 'limits-only') {
    if (!existsSync(inner[0]!)) return { command: w.command, args: w.args };
    return { command: inner[0]!, args: inner.slice(1) };
  }
  const args = [
    ...parentDirs([...systemPaths, ...w.binds]),
    ...systemBinds(),
    '--proc', '/proc', '--dev', '/dev',
    '--perms', '1777', '--size', String(w.limits.tmpBytes), '--tmpfs', '/tmp',
    // A Sergo that itself lies under /tmp: its folders were hidden just now.
    ...parentDirs(w.binds.filter((path) => path.startsWith('/tmp/'))),
  ];
  for (const path of w.binds) if (existsSync(path)) args.push('--ro-bind', path, path);
  if (w.inDir !== undefined) args.push('--ro-bind', w.inDir, '/in');
  for (const file of w.inFiles ?? []) args.push('--ro-bind', file.path, `/in/${file.name}`);
  if (w.outDir !== undefined) args.push('--bind', w.outDir, '/out');
  // Only /tmp, /dev/shm and /out may be written, and each has a limit: a writable root would be memory without one.
  args.push('--perms', '1777', '--size', '67108864', '--tmpfs', '/dev/shm', '--remount-ro', '/dev', '--remount-ro', '/');
  args.push('--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try');
  args.push('--die-with-parent', '--new-session', '--clearenv', '--chdir', '/tmp');
  for (const [name, value] of Object.entries(w.env)) args.push('--setenv', name, value);
  if (w.seccompDescriptor !== undefined) args.push('--add-seccomp-fd', String(w.seccompDescriptor));
  if (!w.asRoot) {
    // Own user namespace, and none below it.
    args.push('--unshare-user', '--disable-userns', '--cap-drop', 'ALL', '--', ...inner);
    return { command: 'bwrap', args };
  }
  // As root the mounts are made by root, so that the program may lie anywhere; then the program gives root away for good.
  // A user namespace with `--uid` would only rename it: files of root with mode 0600 stayed readable (processing.md 7).
  args.push('--cap-drop', 'ALL');
  for (const cap of ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP']) args.push('--cap-add', cap);
  const drop = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all', '--no-new-privs'];
  args.push('--', '/usr/bin/setpriv', ...drop, ...inner);
  return { command: 'bwrap', args };
}
