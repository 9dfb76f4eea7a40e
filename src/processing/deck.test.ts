import { expect, test } from 'vitest';
import type { ReadPage, ReadResult } from '../formats/types.ts';
import { mergeDeck } from './deck.ts';

const deck = (...texts: string[]): ReadResult => ({
  type: 'pptx',
  pagesEstimated: false,
  pages: texts.map((text, at): ReadPage => ({ number: at + 1, text, fate: text === '' ? 'empty' : 'text', toView: false })),
});
const merged = (own: string, drawn: string): string => mergeDeck(deck(own), deck(drawn)).pages[0]!.text;

test("a slide's text is its copy's, in the order that the eye meets it", () => {
  expect(merged('Body\nTitle', 'Title\nBody')).toBe('Title\nBody');
  expect(merged('Title', 'Title\nFooter of the master')).toBe('Title\nFooter of the master');
  expect(merged('ΑΒΓ µ', 'αβγ μ')).toBe('αβγ μ');
});

test('where the copy has not one page a slide, the slides stand and it is said', () => {
  const { pages, notices } = mergeDeck(deck('one', 'two'), deck('drawn'));
  expect(pages.map((page) => page.text)).toEqual(['one', 'two']);
  expect(notices).toEqual(['The PDF copy has 1 page for 2 slides: pictures may show another slide than the text']);
});

test('a script that no font here can draw is read from the slide itself', () => {
  expect(merged('Off the slide\nGothic:\n𐌲𐌿𐍄𐌹𐍃𐌺', 'Gothic:\n𐌲\nFooter')).toBe('Gothic:\n𐌲\nFooter\n𐌲𐌿𐍄𐌹𐍃𐌺');
  expect(merged('日本\nEnglish\n本語', 'English')).toBe('English\n日本\n本語');
});
