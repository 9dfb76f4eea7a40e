import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { corpusFiles, measureCorpus } from './corpus-yardstick.ts';
import { pdfPages } from './independent-pages.ts';
import { hasShared } from './shared.ts';

/** The yardstick must bite: a reading with one fault at a time, beside one without. */
const canRun = hasShared('corpus/manifest.tsv', 'the yardstick of the corpus') && spawnSync('pdftotext', ['-v']).error === undefined;

test.skipIf(!canRun)('a page too few, words on another page, lost and foreign words are each found wrong', async () => {
  const file = (await corpusFiles()).find(({ name }) => name === 'pdf-two-column.pdf')!;
  const right = await pdfPages(file.path);
  const wrongWith = async (texts: string[], change: object = {}): Promise<string[]> => {
    const document = { type: 'pdf', status: 'ready', pagesEstimated: false, ...change };
    return (await measureCorpus([{ ...file, document, pages: texts.map((text) => ({ text })), copy: null }])).get(file.name)!.wrong;
  };
  const [first, second, third] = right as [string, string, string];
  expect(await wrongWith(right)).toEqual([]);
  expect(await wrongWith([first, second])).toContain('2 pages for 3');
  expect(await wrongWith([second, first, third])).toEqual(expect.arrayContaining([expect.stringMatching(/^on page 1 words are missing$/), expect.stringMatching(/of the words are found$/)]));
  expect(await wrongWith([first.split(' ').filter((_word, at) => at % 10 !== 0).join(' '), second, third])).toEqual([expect.stringMatching(/of the words are found$/)]);
  expect(await wrongWith([`${first}\n${'foreign words '.repeat(20)}`, second, third])).toEqual([expect.stringMatching(/of its own words are in the file$/)]);
  expect(await wrongWith([], { status: 'not_indexed', reason: 'Damaged: no page could be read' })).toEqual([expect.stringMatching(/^no pages for 3/)]);
});
