import { cpus, release, totalmem } from 'node:os';

/** Rows padded to the widest cell, numbers as they were formatted by the caller. */
export function printTable(title: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [head, ...rows];
  const widths = head.map((_cell, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  const line = (row: readonly string[]): string => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  process.stdout.write(`\n${title}\n${line(head)}\n${line(widths.map((width) => '-'.repeat(width)))}\n`);
  for (const row of rows) process.stdout.write(`${line(row)}\n`);
}

/** What the figures were measured on, without names of the machine. */
export const describeMachine = (): string =>
  `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}`;

export const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
};
export const median = (values: readonly number[]): number => percentile(values, 0.5);
