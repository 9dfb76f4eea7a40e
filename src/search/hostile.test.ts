/** Any string is a query: never an error, never syntax, bounded work (trust.md 5.2, P27). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSearchLibrary, type SearchLibrary } from '../../bench/search-library.ts';
import { openSearchReader, type SearchReader } from '../storage/sqlite/search-reader.ts';
import { MAX_WORDS, readQuery } from './query.ts';
import { createEngine, rank } from './ranking.ts';

let folder: string;
let library: SearchLibrary;
let reader: SearchReader;
let engine: ReturnType<typeof createEngine>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-hostile-'));
  library = createSearchLibrary(join(folder, 'library.db'));
  library.add([{ ref: 1, id: 'plain', folder: 1, title: 'Plain', text: 'The reactor and the dam OR the mill, col:x 100 % NEAR(a b) 50_50.' }]);
  reader = openSearchReader(library.path);
  engine = createEngine(reader);
});

afterAll(() => {
  reader.close();
  library.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (query: string): string[] =>
  rank(engine, { query, scope: { folders: [1], documents: [] }, depth: 10, explain: false, check: () => {} }).ranked.map((one) => one.documentId);

describe('hostile queries', () => {
  it.each([
    'reactor"', '"reactor', '""reactor""', 'reactor AND', 'NOT reactor', 'NEAR(reactor dam)', 'col:x reactor', 'reactor*', '*reactor', '^reactor',
    '(reactor', "reactor' OR 1=1--", 'reactor; DROP TABLE chunks', 'reactor%', 'rea\u00adctor', 'reactor\u0000', '\u0000reactor', '\ud800reactor',
    'reactor\udfff', '{reactor}', '-reactor', '+reactor', 'reactor\\', '$reactor', '`reactor`', 'reactor\u202e dam', '<b>reactor</b>',
  ])('%j finds the word in it', (query) => {
    expect(ask(query)).toEqual(['plain']);
  });

  it.each(['', ' ', '\n\t', '🎉🎉', '???', '"', '""', '*', '%', '_', '\u0000', '\ud800', 'the and of', 'The', "'", '« »', '-', '…'])(
    '%j finds nothing',
    (query) => {
      expect(ask(query)).toEqual([]);
    },
  );

  it('never fails, whatever the string', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ unit: 'grapheme' }), fc.string()), (query) => {
        expect(ask(query).length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['100 kB of words', 'reactor dam mill '.repeat(6_000)],
    ['100 kB without a space', 'a'.repeat(100_000)],
    ['100 kB of joiners', 'a-'.repeat(50_000)],
    ['1,000 quotes', '"a" '.repeat(1_000)],
    ['10,000 stars', '*'.repeat(10_000)],
    ['stars on words', 'a* b* c* '.repeat(1_000)],
    ['100 kB of Chinese', '水力发电'.repeat(8_000)],
    ['100 kB of combining marks', `a${'\u0301'.repeat(50_000)}`],
    ['20,000 different words', Array.from({ length: 20_000 }, (_, i) => `w${i.toString(36)}x`).join(' ')],
    ['nested brackets', '('.repeat(50_000)],
  ])('reads at most 128 words of %s', (_, query) => {
    expect(readQuery(query, ['en', 'de', 'fr']).words.length).toBeLessThanOrEqual(MAX_WORDS);
    expect(() => ask(query)).not.toThrow();
  });

  it('looks up some fifty words for each letter of a misspelt one, and none for a word that is too long to be one', () => {
    const lookedUpFor = (query: string): number => {
      let lookedUp = 0;
      const counting = createEngine({
        ...reader,
        mayHave: (segment, term) => {
          lookedUp++;
          return reader.mayHave(segment, term);
        },
      });
      rank(counting, { query, scope: { folders: [1], documents: [] }, depth: 10, explain: false, check: () => {} });
      return lookedUp;
    };
    expect(ask('reactpr')).toEqual(['plain']);
    expect(lookedUpFor('reactpr')).toBeLessThan(7 * 120);
    expect(lookedUpFor('a'.repeat(100_000))).toBe(0);
  });

  it('prefers meaningful words to function words when it has to choose', () => {
    const many = `${'the of and in to for with on at by '.repeat(3)}${Array.from({ length: MAX_WORDS - 2 }, (_, i) => `word${String.fromCharCode(97 + (i % 26))}${'abcdefghij'[Math.floor(i / 26)]}`).join(' ')} reactor`;
    const { words } = readQuery(many, ['en']);
    expect(words.length).toBe(MAX_WORDS);
    expect(words.some((word) => word.word === 'reactor')).toBe(true);
  });
});
