import type { ImportReport } from './import.ts';

/** The report a person reads after an import. */
export function formatImportReport(report: ImportReport): string {
  const lines = [
    `Into ${report.folder}: ${report.uploaded} uploaded, ${report.replaced} replaced, ${report.alreadyThere} already there.`,
  ];
  const list = (title: string, rows: readonly { path: string; reason: string }[]): void => {
    if (rows.length === 0) return;
    lines.push('', title, ...rows.map((row) => `  ${row.path}: ${row.reason}`));
  };
  list(`${report.notUploaded.length} not uploaded:`, report.notUploaded);
  list(`${report.notRead.length} uploaded, but could not be read (the originals can be downloaded):`, report.notRead);
  if (report.stillProcessing > 0)
    lines.push('', `${report.stillProcessing} still being read; a running server goes on with them.`);
  return lines.join('\n');
}

/** True when every file is in and, as far as it was waited for, readable. */
export const importSucceeded = (report: ImportReport): boolean =>
  report.notUploaded.length === 0 && report.notRead.length === 0;
