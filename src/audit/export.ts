import type { AuditRow, AuditStore } from '../storage/ports.ts';

const step = 1_000;

const columns = [
  'seq',
  'at',
  'actorKind',
  'actorId',
  'actor',
  'masked',
  'endUser',
  'action',
  'objectKind',
  'objectId',
  'detail',
  'outcome',
  'requestId',
  'hash',
] as const satisfies readonly (keyof AuditRow)[];

/** The whole log, oldest first, one line each. Times are ISO 8601 in UTC. */
export async function* exportRows(store: AuditStore, format: 'jsonl' | 'csv'): AsyncIterable<string> {
  if (format === 'csv') yield `${columns.join(',')}\r\n`;
  let seq = 0;
  for (;;) {
    const rows = await store.after(seq, step);
    for (const row of rows) {
      yield format === 'csv' ? csvLine(row) : `${JSON.stringify({ ...row, at: new Date(row.at).toISOString() })}\n`;
      seq = row.seq;
    }
    if (rows.length < step) return;
  }
}

function csvLine(row: AuditRow): string {
  const cells = columns.map((column) => {
    const value = column === 'at' ? new Date(row.at).toISOString() : row[column];
    return csvCell(value === null ? '' : String(value));
  });
  return `${cells.join(',')}\r\n`;
}

/** RFC 4180 quoting; a cell that a spreadsheet would take for a formula gets a leading apostrophe (ASVS 1.2.10). */
export function csvCell(value: string): string {
  const safe = /^[\s\u200b\ufeff]*[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) || safe !== value ? `"${safe.replaceAll('"', '""')}"` : safe;
}
