import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReadPage } from '../formats/types.ts';
import { chunkPages, cleanExcerpt } from './chunk.ts';

const page = (text: string, more: Partial<ReadPage> = {}): ReadPage => ({ number: 1, text, fate: 'text', toView: false, ...more });
const sentences = (count: number): string => Array.from({ length: count }, (_, i) => `Sentence number ${i} says a little about energy.`).join(' ');

describe('pages cut into excerpts', () => {
  it('a short page is one excerpt, an empty one none', () => {
    const chunks = chunkPages([page('One.'), page('', { number: 2, fate: 'image_only' }), page('Three.', { number: 3 })], { pagesEstimated: false });
    expect(chunks.map(({ position, page: number, text }) => [position, number, text])).toEqual([[0, 1, 'One.'], [1, 3, 'Three.']]);
  });

  it('a page with notes only is found by them, and shows them', () => {
    const chunks = chunkPages([page('', { fate: 'image_only', notes: 'Say that exports doubled.' }), page('Two.', { number: 2, notes: 'aside' })], { pagesEstimated: false });
    expect(chunks).toEqual([
      { position: 0, page: 1, section: null, text: 'Say that exports doubled.' },
      { position: 1, page: 2, section: null, text: 'Two.', extra: 'aside' },
    ]);
  });

  it('a long page is cut into even pieces at sentence ends', () => {
    const chunks = chunkPages([page(sentences(150))], { pagesEstimated: false });
    expect(chunks.length).toBeGreaterThan(3);
    for (const { text } of chunks) {
      expect(text.length).toBeGreaterThan(900);
      expect(text.length).toBeLessThan(2_100);
      expect(text).toMatch(/^Sentence number .*energy\.$/s);
    }
  });

  it('prefers an empty line to a sentence end, and a heading to both', () => {
    const before = sentences(28);
    const paragraphs = chunkPages([page(`${before}\n\nNew paragraph. ${sentences(28)}`)], { pagesEstimated: true });
    expect(paragraphs[1]!.text.startsWith('New paragraph.')).toBe(true);
    const text = `${sentences(20)}\n\nShort. ${sentences(8)}\nHeading\n${sentences(25)}`;
    const start = text.indexOf('Heading');
    const headed = chunkPages([page(text, { sections: [{ start, title: 'Heading' }] })], { pagesEstimated: true });
    expect(headed.some((chunk) => chunk.text.startsWith('Heading') && chunk.section === 'Heading')).toBe(true);
  });

  it('flowing text carries the heading above over page ends; pages of their own do not', () => {
    const pages = [page('Intro\nText.', { sections: [{ start: 0, title: 'Intro' }] }), page('More of it.', { number: 2 }), page('Next\nEnd.', { number: 3, sections: [{ start: 0, title: 'Next' }] })];
    expect(chunkPages(pages, { pagesEstimated: true }).map((chunk) => chunk.section)).toEqual(['Intro', 'Intro', 'Next']);
    expect(chunkPages(pages, { pagesEstimated: false }).map((chunk) => chunk.section)).toEqual(['Intro', null, 'Next']);
  });

  it('notes are searchable with the page and shown nowhere', () => {
    const [chunk] = chunkPages([page('Slide.', { notes: 'Say hello.' })], { pagesEstimated: false });
    expect(chunk).toMatchObject({ text: 'Slide.', extra: 'Say hello.' });
  });

  it('loses no visible text and never cuts inside a grapheme', () => {
    const piece = fc.oneof(fc.constantFrom('👩‍👩‍👧‍👦', 'é', '가', 'नि', 'word ', 'end. ', '\n\n', '。', '🇨🇭'), fc.string({ unit: 'grapheme', maxLength: 8 }));
    const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
    const graphemes = (text: string): string[] => Array.from(segmenter.segment(text), (one) => one.segment);
    fc.assert(
      fc.property(fc.array(piece, { minLength: 20, maxLength: 120 }), (pieces) => {
        const text = pieces.join('');
        const chunks = chunkPages([page(text)], { pagesEstimated: false, wholePage: 60, piece: 40 });
        const plain = (value: string): string => value.replace(/\s+/g, '');
        expect(plain(chunks.map((chunk) => chunk.text).join(''))).toBe(plain(cleanExcerpt(text)));
        for (const { text: shown } of chunks) expect(shown.isWellFormed()).toBe(true);
        const whole = new Set(graphemes(cleanExcerpt(text)));
        // An emoji family that is in the text is never shown in parts.
        if (whole.has('👩‍👩‍👧‍👦')) for (const { text: shown } of chunks) expect(shown).not.toMatch(/‍$/u);
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ['flags in a row, from an odd place', `${'x'.repeat(7)}${'🇨🇭'.repeat(3_000)}`],
    ['marks behind spaces', 'a \u0301b '.repeat(2_000)],
    ['marks behind full stops', 'End.\u0301 '.repeat(2_000)],
    ['families without a space', '👩‍👩‍👧‍👦'.repeat(1_500)],
    ['Hindi clusters without a space', 'क्षत्रिय'.repeat(1_500)],
    ['Hangul letters one by one', '\u1112\u1161\u11ab'.repeat(2_000)],
    ['Thai without a space', 'กำลังไฟฟ้า'.repeat(800)],
    ['line ends of two characters', 'word\r\n'.repeat(2_000)],
  ])('every piece begins and ends where a character does: %s', (_, text) => {
    const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
    const characters = (of: string): string[] => Array.from(segmenter.segment(of), (one) => one.segment).filter((one) => one.trim() !== '');
    const chunks = chunkPages([page(text)], { pagesEstimated: false });
    expect(chunks.length).toBeGreaterThan(2);
    const shown = chunks.flatMap((chunk) => characters(chunk.text));
    expect(shown.length).toBe(characters(cleanExcerpt(text)).length);
    expect(new Set(shown)).toEqual(new Set(characters(cleanExcerpt(text))));
  });

  it('a heading is cut between characters, and one inside a character moves no cut', () => {
    const long = chunkPages([page('Text.', { sections: [{ start: 0, title: '🇨🇭'.repeat(100) }] })], { pagesEstimated: true });
    expect(long[0]!.section).toBe('🇨🇭'.repeat(75));
    const text = '👩‍👩‍👧‍👦'.repeat(400);
    for (const { text: shown } of chunkPages([page(text, { sections: [{ start: 1_600, title: 'Odd' }] })], { pagesEstimated: true })) expect(shown.length % 11).toBe(0);
  });

  it('64 MB in a single line becomes excerpts of bounded size', () => {
    const chunks = chunkPages([page('x'.repeat(4 * 1024 * 1024))], { pagesEstimated: true });
    expect(Math.max(...chunks.map((chunk) => chunk.text.length))).toBeLessThanOrEqual(2_000);
    expect(chunks.reduce((sum, chunk) => sum + chunk.text.length, 0)).toBe(4 * 1024 * 1024);
  });
});

describe('what an excerpt shows', () => {
  it.each([
    ['bidi overrides', 'a\u202eb\u2066c\u200fd', 'abcd'],
    ['tag characters', 'hi\u{e0041}\u{e007f}', 'hi'],
    ['controls', 'a\u0000b\u0007c\u001bd', 'abcd'],
    ['zero width spaces and marks of order', 'a\u200bb\ufeffc', 'abc'],
    ['lone surrogates', 'a\ud800b', 'a\ufffdb'],
    ['line ends', 'a\r\nb\rc', 'a\nb\nc'],
  ])('no %s', (_, text, shown) => {
    expect(cleanExcerpt(text)).toBe(shown);
  });

  it('joiners that Persian and emoji need, tabs and lines stay', () => {
    expect(cleanExcerpt('می‌خواهم 👩‍👩‍👧 a\tb\nc')).toBe('می‌خواهم 👩‍👩‍👧 a\tb\nc');
  });

  it('a pile of combining marks is bounded', () => {
    expect(cleanExcerpt(`a${'\u0301'.repeat(100_000)}b`).length).toBeLessThan(20);
  });
});
