/** Where a command writes: results to stdout, everything for a person beside them to stderr. */
export interface Terminal {
  out(line: string): void;
  note(line: string): void;
  /** True when stderr is a terminal that can show a progress bar. */
  interactive: boolean;
}

export const processTerminal: Terminal = {
  out: (line) => void process.stdout.write(`${line}\n`),
  note: (line) => void process.stderr.write(`${line}\n`),
  interactive: process.stderr.isTTY === true,
};

/** Whoever reads along may stop early (`sergo audit export | head`): what is written after that goes nowhere, and is no fault. */
export function forgiveClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

/** Columns padded to the widest cell. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}
