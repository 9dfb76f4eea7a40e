import { expect, test } from 'vitest';
import { countFound, spelt, wordRecall, wordsOf } from './independent-words.ts';

test('a word that stands there twice must be found twice', () => {
  expect(countFound(wordsOf('tide tide tide'), 'tide')).toBe(1);
  expect(wordRecall(wordsOf('high tide, low tide'), 'high low tide')).toBe(0.75);
  expect(wordRecall(wordsOf('- 7'), 'anything')).toBeNull();
});

test('a word joined or parted at the end of a line counts either way', () => {
  expect(wordRecall(wordsOf('fuel-\nfired boilers'), 'fuelfired boilers')).toBe(1);
  expect(wordRecall(wordsOf('fuelfired boilers'), 'fuel-\nfired boilers')).toBe(1);
  expect(wordRecall(wordsOf('fuel fired'), 'fuel-fired')).toBe(1);
  expect(wordRecall(wordsOf('ﬁle'), 'fi\u00adle')).toBe(1);
});

test('letters are compared where blanks say nothing', () => {
  expect(wordRecall(wordsOf(spelt('à b')), spelt('b à'))).toBe(1);
  expect(wordRecall(wordsOf(spelt('aab')), spelt('ab'))).toBeCloseTo(2 / 3);
});
