/**
 * A small system-call filter for bubblewrap's `--add-seccomp-fd`: no new user namespace (which would hand out capabilities
 * inside it), and none of the calls that parsers never need and kernels have had holes in. BPF as in linux/filter.h.
 */

interface Numbers {
  audit: number;
  unshare: number;
  clone: number;
  /** keyctl, add_key, request_key, bpf, perf_event_open, userfaultfd, io_uring_setup, ptrace, process_vm_writev, setns, mount. */
  denied: number[];
}

/** System-call numbers by machine (asm/unistd_64.h; asm-generic/unistd.h). */
const machines: Partial<Record<string, Numbers>> = {
  x64: { audit: 0xc000003e, unshare: 272, clone: 56, denied: [250, 248, 249, 321, 298, 323, 425, 101, 311, 308, 165] },
  arm64: { audit: 0xc00000b7, unshare: 97, clone: 220, denied: [219, 217, 218, 280, 241, 282, 425, 117, 271, 268, 40] },
};

const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_BITS = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const REFUSE = 0x00050001; // EPERM
const MISSING = 0x00050026; // ENOSYS: the C library then uses the older call
const CLONE3 = 435;
const NEW_USER = 0x10000000;
const X32_BIT = 0x40000000;

/** The filter's bytes, or undefined on a machine whose numbers are not listed. */
export function buildSeccompFilter(arch: string): Buffer | undefined {
  const numbers = machines[arch];
  if (numbers === undefined) return undefined;
  type Step = { code: number; k: number; to?: string; label?: string };
  const steps: Step[] = [
    { code: LOAD, k: 4 },
    { code: IF_EQUAL, k: numbers.audit, to: 'number' },
    { code: RETURN, k: KILL },
    { code: LOAD, k: 0, label: 'number' },
    { code: IF_AT_LEAST, k: X32_BIT, to: 'refuse' },
    ...numbers.denied.map((k) => ({ code: IF_EQUAL, k, to: 'refuse' })),
    { code: IF_EQUAL, k: CLONE3, to: 'missing' },
    { code: IF_EQUAL, k: numbers.clone, to: 'flags' },
    { code: IF_EQUAL, k: numbers.unshare, to: 'flags' },
    { code: RETURN, k: ALLOW },
    { code: LOAD, k: 16, label: 'flags' },
    { code: IF_BITS, k: NEW_USER, to: 'refuse' },
    { code: RETURN, k: ALLOW },
    { code: RETURN, k: REFUSE, label: 'refuse' },
    { code: RETURN, k: MISSING, label: 'missing' },
  ];
  const out = Buffer.alloc(steps.length * 8);
  for (const [at, step] of steps.entries()) {
    const jump = step.to === undefined ? 0 : steps.findIndex((s) => s.label === step.to) - at - 1;
    out.writeUInt16LE(step.code, at * 8);
    out.writeUInt8(jump, at * 8 + 2);
    out.writeUInt32LE(step.k, at * 8 + 4);
  }
  return out;
}
