import { expect, test } from 'vitest';
import type { ReadPage } from '../formats/types.ts';
import { cutAtCopyPages, joinFlow } from './repage.ts';

const page = (number: number, text: string, toView = false): ReadPage => ({ number, text, fate: text === '' ? 'empty' : 'text', toView });

test('the flow is cut where the copy turns its pages, headings stay at their place', () => {
  const flow = joinFlow([{ text: 'One. Two.', sections: [{ start: 5, title: 'Two.' }] }, { text: 'Three.' }]);
  const pages = cutAtCopyPages(flow, [0, 4], [page(1, 'One.'), page(2, 'Two. Three.')], { notes: 'A note' });
  expect(pages.map(({ text, notes, sections }) => [text, notes, sections])).toEqual([['One.', 'A note', undefined], ['Two.\n\nThree.', undefined, [{ start: 0, title: 'Two.' }]]]);
});

test('a page of the copy that nothing of the flow falls to keeps what it shows', () => {
  const pages = cutAtCopyPages(joinFlow([{ text: 'All of it.' }]), [0, 10, 10], [page(1, 'All of it.'), page(2, 'Only drawn'), page(3, '')], {});
  expect(pages.map(({ text, fate }) => [text, fate])).toEqual([['All of it.', 'text'], ['Only drawn', 'text'], ['', 'empty']]);
});

test('marks of the flow stay with the pages that its marked text falls to', () => {
  const flow = joinFlow([{ text: 'Chapter one.', toView: true }, { text: 'Chapter two.' }, { text: '', toView: true }, { text: 'Chapter three.' }]);
  const drawn = [page(1, 'Chapter'), page(2, 'one.'), page(3, 'Chapter two.'), page(4, 'Chapter three.', true)];
  expect(cutAtCopyPages(flow, [0, 7, 12, 26], drawn, {}).map(({ text, toView }) => [text, toView])).toEqual([
    ['Chapter', true], ['one.', true], ['Chapter two.', false], ['Chapter three.', true],
  ]);
  const end = joinFlow([{ text: 'Words.' }, { text: '', toView: true }]);
  expect(cutAtCopyPages(end, [0], [page(1, 'Words.')], {})[0]!.toView).toBe(true);
});

const drawn = (count: number): ReadPage[] => Array.from({ length: count }, (_, at) => ({ number: at + 1, text: 'x', fate: 'text', toView: false }));
/** The text cut into pages at these offsets. */
const cutAt = (text: string, ...offsets: number[]): string[] =>
  cutAtCopyPages(joinFlow([{ text }]), [0, ...offsets], drawn(offsets.length + 1), {}).map((page) => page.text);

test('no word is cut in two: it stays with its larger part', () => {
  expect(cutAt('The first sentence ends here', 'The first sen'.length)).toEqual(['The first', 'sentence ends here']);
  expect(cutAt('The first sentence ends here', 'The first senten'.length)).toEqual(['The first sentence', 'ends here']);
  expect(cutAt('Gothic 𐌲𐌿𐍄𐌹𐍃𐌺\n\nNext', 'Gothic 𐌲𐌿𐍄𐌹𐍃'.length)).toEqual(['Gothic 𐌲𐌿𐍄𐌹𐍃𐌺', 'Next']);
  expect(cutAt('one two three', 5, 6)).toEqual(['one', 'two', 'three']);
});

test('a script without blanks between its words is cut where the page ends', () => {
  expect(cutAt('日本語の文章です', 3)).toEqual(['日本語', 'の文章です']);
});

test('what closes a sentence stays with it', () => {
  expect(cutAt('It ends (here). Next', 'It ends (here'.length)).toEqual(['It ends (here).', 'Next']);
});
