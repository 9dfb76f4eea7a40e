import { expect, test } from 'vitest';
import { alignToCopy, pageAt } from './align.ts';

/** Words that never repeat as a run, from a fixed seed. */
function makeWords(count: number): string[] {
  let state = 7;
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  return Array.from({ length: count }, () => Array.from({ length: 3 + next(7) }, () => 'abcdefghijklmnoprstuvwzäöü'[next(26)]).join(''));
}

/** Paragraphs, each on a page of the copy; the copy has headers, other line ends and hyphens, as a printed page has. */
function makeCase(): { flow: string; copy: string[]; places: { offset: number; page: number }[] } {
  const words = makeWords(6_000);
  const copy: string[] = [];
  const places: { offset: number; page: number }[] = [];
  let flow = '';
  for (let page = 0; page < 20; page++) {
    let printed = `Annual report of the company\n${page + 1}\n`;
    for (let paragraph = 0; paragraph < 6; paragraph++) {
      const at = (page * 6 + paragraph) * 50;
      const body = words.slice(at, at + 50);
      places.push({ offset: flow.length, page: page + 1 });
      flow += `${paragraph === 0 ? '• ' : ''}${body.join(' ')}.\n\n`;
      printed += `${body.map((word, index) => (index % 9 === 8 ? `${word}\n` : `${word} `)).join('')}.\n`;
    }
    copy.push(printed);
  }
  return { flow, copy, places };
}

test('each paragraph is found on the page that prints it', () => {
  const { flow, copy, places } = makeCase();
  const starts = alignToCopy(flow, copy);
  expect(starts).toHaveLength(20);
  expect(starts[0]).toBe(0);
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  expect(places.map(({ offset }) => pageAt(starts, offset))).toEqual(places.map(({ page }) => page));
});

test('footnotes that the copy prints elsewhere do not move the pages', () => {
  const { flow, copy, places } = makeCase();
  const note = makeWords(6_200).slice(6_000).join(' ');
  const at = places[31]!.offset;
  const starts = alignToCopy(flow.slice(0, at) + `[1] ${note}\n\n` + flow.slice(at), copy.map((page, index) => (index === 17 ? `${page}\n${note}` : page)));
  const moved = places.map(({ offset, page }) => ({ offset: offset >= at ? offset + note.length + 6 : offset, page }));
  expect(moved.filter(({ offset, page }) => pageAt(starts, offset) !== page)).toEqual([]);
});

test('repeated text on every page gives no wrong anchor, only the unique words do', () => {
  const same = 'The same sentence stands on every single page of this form, word for word.\n';
  const unique = makeWords(40);
  const pages = Array.from({ length: 10 }, (_, page) => `${same}${unique.slice(page * 4, page * 4 + 4).join(' ')} filled in\n`);
  const flow = pages.join('\n');
  const starts = alignToCopy(flow, pages);
  pages.forEach((_, index) => expect(pageAt(starts, flow.indexOf(unique.slice(index * 4, index * 4 + 4).join(' ')))).toBe(index + 1));
  expect(pages).toHaveLength(10);
});

test('blank pages, nothing in common and empty texts still give one place a page', () => {
  const { flow, copy } = makeCase();
  const starts = alignToCopy(flow, [copy[0]!, '', ...copy.slice(1)]);
  expect(pageAt(starts, starts[1]!)).toBe(3);
  expect(alignToCopy('abc', ['x', 'y'])).toHaveLength(2);
  expect(alignToCopy('', ['x', 'y'])).toEqual([0, 0]);
  expect(alignToCopy('abc', [])).toEqual([]);
});

test('a page never begins between a letter and its accent', () => {
  const words = makeWords(400);
  const pages = [0, 1, 2, 3].map((page) => words.slice(page * 100, page * 100 + 100).join(' ') + 'e\u0301');
  const flow = pages.join(' ');
  for (const start of alignToCopy(flow, pages)) expect(flow[start]).not.toBe('\u0301');
});
