/**
 * Prints the last line of a test run, `N passed, N failed`, from vitest's JSON report, and exits non-zero when anything
 * failed: a test, a file that did not load, the type check, the linter, or vitest itself. No tests at all is a failure.
 *
 *   node test/support/closing-line.ts REPORT VITEST_EXIT_CODE ok|failed
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: { name: string; status: string; assertionResults: { status: string }[] }[];
}

export interface Outcome {
  passed: number;
  failed: number;
  /** Sentences to print before the closing line. */
  notes: string[];
  exitCode: 0 | 1;
}

/** `report` is the JSON text, or null when vitest did not get to write it. */
export function summarizeRun(report: string | null, vitestExitCode: number, checks: string): Outcome {
  const notes: string[] = [];
  let passed = 0;
  let failed = 0;
  try {
    const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(report ?? '') as Report;
    const brokenFiles = testResults.filter(
      (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
    );
    for (const file of brokenFiles) notes.push(`The file as a whole failed: ${file.name}`);
    if (numPendingTests > 0) notes.push(`${numPendingTests} skipped (each says why above)`);
    passed = numPassedTests;
    failed = numFailedTests + brokenFiles.length;
  } catch {
    notes.push('vitest ended without a report.');
    failed = 1;
  }
  if (passed + failed === 0) notes.push('No tests were found, which counts as a failure.');
  if (checks !== 'ok') notes.push('The type check or the linter failed; see above.');
  if (vitestExitCode !== 0 && failed === 0) notes.push(`vitest exited with ${vitestExitCode} although no test failed.`);
  const good = vitestExitCode === 0 && failed === 0 && passed > 0 && checks === 'ok';
  return { passed, failed, notes, exitCode: good ? 0 : 1 };
}

function readReport(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , path = '', vitestExitCode = '1', checks = 'failed'] = process.argv;
  const outcome = summarizeRun(readReport(path), Number(vitestExitCode), checks);
  for (const note of outcome.notes) console.log(note);
  console.log(`${outcome.passed} passed, ${outcome.failed} failed`);
  process.exitCode = outcome.exitCode;
}
