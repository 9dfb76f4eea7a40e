import { inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { writeLayerPage, type PicturePlace } from './layer-page.ts';
import { confidenceOf, textOf, type FoundLine } from './words.ts';

const word = (text: string, x1: number, y1: number, x2: number, y2 = y1, confidence = 90): FoundLine['words'][number] => ({ text, confidence, baseline: [x1, y1, x2, y2], points: 10 });
/** 200 by 400 points. */
const place: PicturePlace = { width: 200, height: 400, dpi: 72, turns: 0, degrees: 0 };
const contentOf = (lines: FoundLine[], more: Partial<PicturePlace> = {}): string[] => inflateSync(writeLayerPage(lines, { ...place, ...more }).content).toString('latin1').split('\n').slice(1, -1);

test('a word stands at its place, as long as it is in the picture, with a space behind it', () => {
  // Two characters of 10 points, half as wide: 10 points; the word is 40 long.
  expect(contentOf([{ paragraph: true, baseline: [20, 100, 90, 100], words: [word('Ab', 20, 100, 60)] }])).toEqual(['1 0 0 1 20 300 Tm /F 10 Tf 400 Tz <004100620020> Tj']);
});

test('words of a line that hardly rises stand on one height; one that is on its side goes up', () => {
  const level = contentOf([{ paragraph: true, baseline: [0, 100, 100, 101], words: [word('a', 0, 99, 10), word('b', 20, 102, 30)] }]);
  expect(level.map((line) => line.split(' Tm')[0])).toEqual(['1 0 0 1 0 299.5', '1 0 0 1 20 299.5']);
  const [upward] = contentOf([{ paragraph: true, baseline: [50, 300, 50, 100], words: [word('up', 50, 300, 50, 260)] }]);
  expect(upward).toBe('0 1 -1 0 50 100 Tm /F 10 Tf 400 Tz <007500700020> Tj');
});

test('words of a levelled page go back to where they lean, level each', () => {
  // About the middle (100, 200), a quarter counter-clockwise: 50 to the right becomes 50 up, what was below is to the right.
  const lines: FoundLine[] = [
    { paragraph: true, baseline: [150, 200, 190, 200], words: [word('a', 150, 200, 190)] },
    { paragraph: false, baseline: [150, 210, 190, 210], words: [word('b', 150, 210, 190)] },
  ];
  expect(contentOf(lines, { degrees: 90 }).map((line) => line.split(' Tm')[0])).toEqual(['1 0 0 1 100 250', '1 0 0 1 110 250']);
});

test('a script that is written from the right starts there', () => {
  expect(contentOf([{ paragraph: true, baseline: [20, 100, 90, 100], words: [word('שלום', 20, 100, 60)] }])[0]).toMatch(/^-1 0 0 1 60 300 Tm /);
});

test('a page that was turned for reading says how it lies, and its size is that of the picture', () => {
  expect(writeLayerPage([], { ...place, width: 1700, height: 2200, dpi: 200, turns: 1 })).toMatchObject({ width: 612, height: 792, rotate: 270 });
  expect([0, 2, 3].map((turns) => writeLayerPage([], { ...place, turns: turns as 0 | 2 | 3 }).rotate)).toEqual([0, 180, 90]);
});

test('text has its lines and paragraphs, confidence weighs long words more', () => {
  const lines: FoundLine[] = [
    { paragraph: true, baseline: [0, 0, 1, 0], words: [word('one', 0, 0, 1), word('two', 0, 0, 1)] },
    { paragraph: false, baseline: [0, 0, 1, 0], words: [] },
    { paragraph: false, baseline: [0, 0, 1, 0], words: [word('three', 0, 0, 1, 0, 20)] },
    { paragraph: true, baseline: [0, 0, 1, 0], words: [word('four', 0, 0, 1)] },
  ];
  expect(textOf(lines)).toBe('one two\nthree\n\nfour');
  expect(confidenceOf(lines)).toBeCloseTo((90 * 10 + 20 * 5) / 15);
  expect(confidenceOf([])).toBe(0);
});
