import { UnreadableFile } from './types.ts';

/** Gathers the cells of one sheet and writes them as rows; columns that are empty in the whole sheet are left out. */
export interface SheetRows {
  /** `column` is 0-based. */
  add(column: number, text: string): void;
  endRow(): void;
  toText(): string;
}

/** Text of all sheets together: far above any real workbook, far below what a child may hold. */
export const mostText = 64 * 1024 ** 2;

/** Shared by all sheets of a workbook, so that a shared string used a million times ends the reading, not the memory. */
export function createTextBudget(most = mostText): (characters: number) => void {
  let used = 0;
  return (characters) => {
    used += characters;
    if (used > most) throw new UnreadableFile(`Too large to read: its cells hold more than ${Math.round(most / 1024 ** 2)} million characters`);
  };
}

export function createSheetRows(spend: (characters: number) => void): SheetRows {
  const rows: { columns: number[]; texts: string[] }[] = [];
  const used = new Set<number>();
  let columns: number[] = [];
  let texts: string[] = [];
  return {
    add: (column, raw) => {
      const text = raw.includes('\n') || raw.includes('  ') ? raw.replace(/\s+/g, ' ').trim() : raw.trim();
      if (text === '') return;
      spend(text.length + 3);
      used.add(column);
      columns.push(column);
      texts.push(text);
    },
    endRow: () => {
      if (columns.length > 0) rows.push({ columns, texts });
      columns = [];
      texts = [];
    },
    toText: () => {
      const place = new Map([...used].sort((a, b) => a - b).map((column, index) => [column, index]));
      const lines: string[] = [];
      for (const row of rows) {
        let line = '';
        let at = 0;
        row.columns.forEach((column, index) => {
          const to = place.get(column)!;
          // A cell far to the right is parted once: a sheet of stray cells must not become a page of bars.
          if (to - at > 30) line += ' | … | ';
          else for (; at < to; at++) line += ' | ';
          at = to;
          line += row.texts[index]!;
        });
        spend(line.length);
        lines.push(line);
      }
      return lines.join('\n');
    },
  };
}
