/** Analysis is made for speed; here it is compared with what it means, written plainly: patterns, Snowball's stems, a map. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import fc from 'fast-check';
import * as porter2 from 'porter2';
import { describe, expect, it } from 'vitest';
import { textMaker } from '../../../bench/search-text.ts';
import { hasShared, sharedPath } from '../../../test/support/shared.ts';
import { analyseDocument } from './document.ts';
import { UNSPACED_CLASS } from './characters.ts';
import { foldForPhrase, lowerWord, normaliseText } from './fold.ts';
import { detectLanguage, LANGUAGES as KNOWN } from './languages.ts';
import { termsOfWord } from './terms.ts';
import { eachBrokenWord, eachSurface, emitSurface, type Token } from './tokens.ts';

const SPACED_CLASS = `[[\\p{L}\\p{N}\\p{M}]--[${UNSPACED_CLASS}]]`;
const SURFACE = new RegExp(
  `[${UNSPACED_CLASS}]+|${SPACED_CLASS}+(?:(?:[.\\-_\\/:@+']|,(?=\\p{Nd})|(?<=[\\p{L}\\p{M}])&(?=\\p{L}))${SPACED_CLASS}+)*(?:\\+\\+|#(?!${SPACED_CLASS}))?\\*?`,
  'gv',
);

const BROKEN_WORD = /(\p{L}{2,})-\n[ \t]*(\p{Ll}{2,})/gu;

const brokenWords = (text: string): string[] => Array.from(text.matchAll(BROKEN_WORD), ([, half, other]) => lowerWord(`${half}${other}`));

function surfacesOf(text: string): string[] {
  const surfaces: string[] = [];
  eachSurface(text, (start, end) => surfaces.push(text.slice(start, end)));
  return surfaces;
}

/** Terms with their counts and places, as `languages.test.ts` and searches expect them, without any memory. */
function plainly(texts: readonly string[], language: string): { words: number[]; terms: string[] } {
  const postings = new Map<string, Map<number, number>>();
  const words = texts.map((text, slot) => {
    let count = 0;
    const add = (token: Token): void => {
      if (!token.spelling) count++;
      for (const term of token.kind === 'word' ? termsOfWord(token.text, language) : [token.text]) {
        const places = postings.get(term) ?? new Map<number, number>();
        postings.set(term, places.set(slot, Math.min(63, (places.get(slot) ?? 0) + 1)));
      }
    };
    const normal = normaliseText(text);
    for (const [surface] of normal.matchAll(SURFACE)) emitSurface(surface, add);
    for (const word of brokenWords(normal)) add({ kind: 'word', text: word, spelling: true, capitals: false, inside: false, starred: false });
    return count;
  });
  return { words, terms: [...postings].map(([term, places]) => `${term} ${JSON.stringify([...places])}`).toSorted() };
}

function analysed(texts: readonly string[], language: string): ReturnType<typeof plainly> {
  const chunks = texts.map((text, position) => ({ position, page: null, section: null, text }));
  const { chunks: made, postings } = analyseDocument({ title: '', language }, chunks);
  const terms = postings.terms.map((term, place) => {
    const places: [number, number][] = [];
    for (let at = postings.starts[place]!; at < postings.starts[place + 1]!; at++) places.push([postings.slots[at]!, postings.codes[at]!]);
    return `${term} ${JSON.stringify(places)}`;
  });
  return { words: made.map((chunk) => chunk.length), terms: terms.toSorted() };
}

const LETTERS = ['a', 'B', 'é', 'ß', '中', '国', 'ก', 'ิ', '\u0301', '1', '٢', '๓', '.', '-', '_', '/', ':', '@', '+', "'", ',', '&', '#', '*', ' ', '\n', '-\n',
  '𝐀', '𠀀', '😀', '\u00ad', 'ﬁ', 'İ', 'ı', 'ا', 'ل', 'あ', 'ー', '한', 'я', 'й', '\ud800', '\udc00'];
const mixed = fc.array(fc.constantFrom(...LETTERS), { maxLength: 60 }).map((letters) => letters.join(''));
const broken = fc.array(fc.constantFrom('-\n', '-\n ', 'ab', 'c', 'D', 'é', '中', '1', ' ', '𝐀', '-', '\n'), { maxLength: 30 }).map((pieces) => pieces.join(''));
const anyText = fc.oneof(mixed, fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ unit: 'grapheme' }));
const LANGUAGES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'ru', 'da', 'fi', 'hu', 'tr', 'ar', 'zh', 'ja', 'th'];

describe('analysis', () => {
  it('knows every language that it finds a text to be in', () => {
    const letters = fc.array(fc.constantFrom(...LETTERS, 'ß', 'ä', 'ñ', 'ã', 'œ', 'å', 'ł', 'ğ', 'ő', 'ř', 'ă', 'ø', 'ò', 'ї', 'ы', 'پ', 'א', 'λ', 'the', ' und '), { maxLength: 12 });
    fc.assert(fc.property(letters.map((parts) => parts.join('')), (text) => KNOWN.includes(detectLanguage(text))), { numRuns: 3_000 });
    expect(KNOWN).toEqual(expect.arrayContaining(LANGUAGES));
  });

  it('cuts any text where the pattern does', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(surfacesOf(text.toWellFormed())).toEqual(text.toWellFormed().match(SURFACE) ?? []);
      }),
      { numRuns: 3_000 },
    );
  });

  it('finds words broken at line ends where the pattern does', () => {
    fc.assert(
      fc.property(broken, (text) => {
        const found: string[] = [];
        eachBrokenWord(text.toWellFormed(), (token) => found.push(token.text));
        expect(found).toEqual(brokenWords(text.toWellFormed()));
      }),
      { numRuns: 3_000 },
    );
  });

  it('finds the same terms, counts and lengths in any text and language', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 4 }), fc.constantFrom(...LANGUAGES), (texts, language) => {
        expect(analysed(texts, language)).toEqual(plainly(texts, language));
      }),
      { numRuns: 1_500 },
    );
  });

  it('finds no term without a name, not even of diacritics that stand alone', () => {
    const alone = fc.array(fc.constantFrom('´', '¨', '¯', '¸', '\u0301', '\u0308\u0327', 'ـــ', '\u064b', '\u05b0', 'a', '7', '-', "'", '.', '+', '*', ' '), { maxLength: 12 }).map((all) => all.join(''));
    fc.assert(
      fc.property(alone, fc.constantFrom(...LANGUAGES), (text, language) => {
        expect(analysed([text], language).terms).not.toContain('');
      }),
      { numRuns: 2_000 },
    );
    expect(analysed(['Centre ´ ¨ ـــ'], 'en').terms).toEqual(analysed(['Centre'], 'en').terms);
  });

  it('folds text of ASCII for phrases as it does the same text beside an accent', () => {
    const plain = fc.array(fc.constantFrom('-\n', '-\r\n', '-', 'ab', 'C', 'd', '9', ' ', '\n', '.', '\u0001', '\t', "'"), { maxLength: 30 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(plain, (text) => {
        expect(`${foldForPhrase(text).trim()} e`.trim()).toEqual(foldForPhrase(`${text} . é`).trim());
      }),
      { numRuns: 2_000 },
    );
  });

  it('gives the same terms again when words were forgotten in between', () => {
    const maker = textMaker(5);
    const texts = Array.from({ length: 12 }, () => maker.text(400));
    const before = analysed(texts, 'en');
    // More different words than are remembered.
    for (let i = 0; i < 120; i++) analysed([Array.from({ length: 2_500 }, (_, n) => `w${((i * 2_500 + n) * 7).toString(36)}`).join(' ')], 'en');
    expect(analysed(texts, 'en')).toEqual(before);
    expect(before).toEqual(plainly(texts, 'en'));
  });

  it('keeps languages apart that read one word differently', () => {
    const [english, german] = [analysed(['hauses relational'], 'en'), analysed(['hauses relational'], 'de')];
    expect(english).toEqual(plainly(['hauses relational'], 'en'));
    expect(german).toEqual(plainly(['hauses relational'], 'de'));
    expect(german.terms).not.toEqual(english.terms);
  });

  it('stems English as Snowball does', () => {
    const snowball = (createRequire(import.meta.url)('snowball-stemmers') as { newStemmer(name: string): { stem(word: string): string } }).newStemmer('english');
    const maker = textMaker(11);
    const ends = ['', 's', 'es', 'ed', 'edly', 'ing', 'ingly', 'eed', 'ly', 'y', 'ies', 'ied', 'ational', 'ization', 'fulness', 'ousli', 'ment', 'sion', "'s", 'ously'];
    const words = new Set((maker.text(20_000).toLowerCase().match(/[a-z]+/g) ?? []).flatMap((word, i) => [word, word + ends[i % ends.length]!]));
    for (const word of 'skies dying idly gently news howe atlas generate arsenal commune yes say toy sayeth youth boy inning proceed exceed naïve café'.split(' ')) words.add(word);
    const differing = [...words].filter((word) => porter2.stem(word) !== snowball.stem(word));
    expect(words.size).toBeGreaterThan(5_000);
    expect(differing).toEqual([]);
  });
});

describe.skipIf(!hasShared('corpus', 'analysis of real texts'))('analysis of real texts', () => {
  const folder = hasShared('corpus', 'analysis of real texts') ? sharedPath('corpus') : '';
  const names = folder === '' ? [] : readdirSync(folder).filter((name) => /\.(?:txt|md|csv|html|eml|rtf)$/.test(name));

  it.each(names)('%s', (name) => {
    const text = readFileSync(join(folder, name)).toString('utf8').slice(0, 60_000);
    const texts = Array.from({ length: Math.ceil(text.length / 1_500) }, (_, i) => text.slice(i * 1_500, (i + 1) * 1_500));
    for (const language of ['en', 'de', 'ru']) expect(analysed(texts, language)).toEqual(plainly(texts, language));
  });
});
