import { expect, test } from 'vitest';
import type { ReadPage } from '../formats/types.ts';
import { addRunningLines } from './running-lines.ts';

const page = (number: number, text: string, sections?: ReadPage['sections']): ReadPage => ({ number, text, fate: text === '' ? 'empty' : 'text', toView: false, ...(sections ? { sections } : {}) });

test('each page gets the running lines that its copy shows, and sections keep their places', () => {
  const pages = [page(1, 'Harbour report\n\nOne begins here.'), page(2, 'Chapter\n\nTwo goes on.', [{ start: 0, title: 'Chapter' }]), page(3, '')];
  const drawn = [page(1, 'Harbour report\nOne begins here.\nRevision 7, page 1'), page(2, 'Harbour report\nChapter\nTwo goes on.\nRevision 7, page 2'), page(3, 'Harbour report\nRevision 7, page 3')];
  const read = addRunningLines(pages, drawn);
  expect(read.map(({ text }) => text)).toEqual([
    'Harbour report\n\nOne begins here.\n\nRevision 7, page 1', 'Harbour report\n\nChapter\n\nTwo goes on.\n\nRevision 7, page 2', 'Harbour report\n\nRevision 7, page 3',
  ]);
  expect(read[1]!.sections).toEqual([{ start: 16, title: 'Chapter' }]);
  expect(read[2]!.fate).toBe('text');
});

test('a first page that is printed without the head of the others loses it', () => {
  const pages = [page(1, 'Later pages only\n\nTitle page.', [{ start: 18, title: 'Title page.' }]), page(2, 'Text.'), page(3, 'More.')];
  const drawn = [page(1, 'Title page.'), page(2, 'Later pages only\nText.'), page(3, 'Later pages only\nMore.')];
  const read = addRunningLines(pages, drawn);
  expect(read.map(({ text }) => text)).toEqual(['Title page.', 'Later pages only\n\nText.', 'Later pages only\n\nMore.']);
  expect(read[0]!.sections).toEqual([{ start: 0, title: 'Title page.' }]);
});

test('what repeats inside the pages is text, and one page has no running lines', () => {
  const same = [page(1, 'A\n\nB'), page(2, 'C')];
  const drawn = [page(1, 'first\nsecond\nthird\nfourth\nThe same sentence\nx1\nx2\nx3\nx4 end'), page(2, 'fifth\nsixth\nseventh\neighth\nThe same sentence\ny1\ny2\ny3\ny4 stop')];
  expect(addRunningLines(same, drawn)).toEqual(same);
  expect(addRunningLines([page(1, 'A')], [page(1, 'Head\nA')])).toEqual([page(1, 'A')]);
});
