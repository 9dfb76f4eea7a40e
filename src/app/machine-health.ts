import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Check } from '../cli/doctor.ts';
import type { ConsolePorts } from '../doors/console/ports.ts';

const FRESH_MS = 10 * 60_000;

/**
 * What `sergo doctor` finds, for the health call: asked of a process of its own, since it waits for other programs, and kept for ten
 * minutes. Until the first answer is there the call waits for it. `noticesNow` are those that come and go while the server runs.
 */
export function createMachineHealth(mainPath: string, noticesNow: () => string[]): ConsolePorts['health'] {
  let known: { at: number; answer: ReturnType<ConsolePorts['health']> } | null = null;
  return async () => {
    if (known === null || Date.now() - known.at > FRESH_MS) known = { at: Date.now(), answer: ask(mainPath) };
    const { checks, notices } = await known.answer;
    return { checks, notices: [...notices, ...noticesNow()] };
  };
}

async function ask(mainPath: string): ReturnType<ConsolePorts['health']> {
  // The exit code says whether all is well; the answer is on stdout either way.
  const { stdout } = await promisify(execFile)(process.execPath, [mainPath, '--json', 'doctor'], { timeout: 60_000 }).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  const checks = readChecks(stdout);
  const missing = checks.filter((check) => check.state !== 'ok');
  return {
    checks: Object.fromEntries(checks.map((check) => [check.name, { ok: check.state === 'ok', ...(check.cost ? { detail: check.cost } : {}) }])),
    notices: missing.map((check) => `${check.name}: ${check.cost ?? check.found}`),
  };
}

function readChecks(stdout: string): Pick<Check, 'name' | 'state' | 'cost' | 'found'>[] {
  try {
    const answer = JSON.parse(stdout) as { checks?: Check[] } | Check[];
    return (Array.isArray(answer) ? answer : (answer.checks ?? [])).filter((check) => check.name !== 'Data folder');
  } catch {
    return [{ name: 'doctor', state: 'failed', found: '', cost: 'the machine could not be examined; run bin/sergo doctor' }];
  }
}
