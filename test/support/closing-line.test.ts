import { expect, test } from 'vitest';
import { summarizeRun } from './closing-line.ts';

const report = (passed: number, failed: number, files: unknown[] = []): string =>
  JSON.stringify({ numPassedTests: passed, numFailedTests: failed, numPendingTests: 0, testResults: files });

test('a clean run passes', () => {
  expect(summarizeRun(report(12, 0), 0, 'ok')).toEqual({ passed: 12, failed: 0, notes: [], exitCode: 0 });
});

test('a failed test, a failed check and a vitest error each fail the run', () => {
  expect(summarizeRun(report(12, 1), 1, 'ok').exitCode).toBe(1);
  expect(summarizeRun(report(12, 0), 0, 'failed').exitCode).toBe(1);
  expect(summarizeRun(report(12, 0), 1, 'ok').exitCode).toBe(1);
});

test('a file that does not load counts as one failure', () => {
  const outcome = summarizeRun(report(3, 0, [{ name: 'x.test.ts', status: 'failed', assertionResults: [] }]), 1, 'ok');
  expect(outcome).toMatchObject({ passed: 3, failed: 1, exitCode: 1 });
});

test('no tests and no report are failures', () => {
  expect(summarizeRun(report(0, 0), 0, 'ok').exitCode).toBe(1);
  expect(summarizeRun(null, 124, 'ok')).toMatchObject({ passed: 0, failed: 1, exitCode: 1 });
});
