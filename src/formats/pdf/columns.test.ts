import { expect, test } from 'vitest';
import { orderByColumns, type Piece } from './columns.ts';

const piece = (text: string, x0: number, y: number, x1 = x0 + 220): Piece => ({ text, x0, x1, y0: y, y1: y + 10 });
const prose = (side: string, n: number): string => `${side}${n} some running text that fills`;
const flat = (rows: Piece[][] | undefined): string[] | undefined => rows?.map((row) => row.map((p) => p.text.split(' ')[0]).join(' '));

test('lines that run across two columns are read column by column, the title first', () => {
  const rows = [[piece('Title over both columns of the page', 60, 740, 540)]];
  for (let n = 0; n < 12; n += 1) rows.push([piece(prose('L', n), 60, 700 - n * 14), piece(prose('R', n), 320, 700 - n * 14)]);
  expect(flat(orderByColumns(rows, 612))).toEqual([
    'Title',
    ...Array.from({ length: 12 }, (_, n) => `L${n}`),
    ...Array.from({ length: 12 }, (_, n) => `R${n}`),
  ]);
});

test('three columns', () => {
  const rows: Piece[][] = [];
  for (let n = 0; n < 10; n += 1) {
    rows.push([0, 1, 2].map((c) => piece(prose('ABC'[c]!, n), 40 + c * 190, 700 - n * 14, 40 + c * 190 + 170)));
  }
  const order = flat(orderByColumns(rows, 612))!;
  expect(order.slice(0, 10).every((t) => t.startsWith('A'))).toBe(true);
  expect(order.slice(10, 20).every((t) => t.startsWith('B'))).toBe(true);
});

test('a page that is in column order already is left as it is', () => {
  const rows = ['L', 'R'].flatMap((side, c) => Array.from({ length: 12 }, (_, n) => [piece(prose(side, n), 60 + c * 260, 700 - n * 14)]));
  expect(orderByColumns(rows, 612)).toBeUndefined();
});

test('tables keep their rows', () => {
  const rows = Array.from({ length: 15 }, (_, n) => [piece(`Item ${n}`, 60, 700 - n * 14, 110), piece(`${n * 7}.50`, 320, 700 - n * 14, 350)]);
  expect(orderByColumns(rows, 612)).toBeUndefined();
});

test('one column is left alone', () => {
  const rows = Array.from({ length: 30 }, (_, n) => [piece(prose('P', n), 60, 700 - n * 14, 540)]);
  expect(orderByColumns(rows, 612)).toBeUndefined();
});
