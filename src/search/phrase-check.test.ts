/** Quoted phrases are found however their words are joined: with hyphens, dots, slashes or none, over line ends, beside other scripts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSearchLibrary, type SearchLibrary } from '../../bench/search-library.ts';
import { openSearchReader, type SearchReader } from '../storage/sqlite/search-reader.ts';
import { createEngine, rank } from './ranking.ts';

interface Case {
  name: string;
  /** All of them have each phrase. */
  texts: string[];
  phrases: string[];
  /** These have its words and not the phrase. */
  others?: string[];
}

const cases: Case[] = [
  { name: 'a hyphen, one text', texts: ['The long term plan was signed'], others: ['A plan for long: the term ends'], phrases: ['long-term plan', 'long term plan', 'long–term plan'] },
  { name: 'a hyphen, written apart and joined', texts: ['The long-term plan was signed', 'The long term plan was dropped', 'The long-\nterm plan was printed'], others: ['The longterm view: plan it'], phrases: ['long-term plan', 'long term plan'] },
  { name: 'a hyphen before a number', texts: ['The COVID-19 pandemic began', 'The COVID 19 pandemic ended'], others: ['The COVID19 wave, a pandemic, 19 days'], phrases: ['COVID-19 pandemic', 'COVID 19 pandemic', 'covid-19'] },
  { name: 'several hyphens', texts: ['State-of-the-art reactors', 'State of the art reactors', 'state—of the art: reactors'], others: ['The art of the state, and reactors'], phrases: ['state-of-the-art reactors', 'state of the art reactors'] },
  { name: 'a part number in pieces', texts: ['See AEO2023-Q4 tables', 'See AEO2023 Q4 tables', 'See AEO2023/Q4 tables'], others: ['Q4 tables of AEO2023'], phrases: ['AEO2023-Q4 tables', 'AEO2023 Q4 tables'] },
  { name: 'dots between numbers', texts: ['Upgrade to version 1.0.21 now', 'Upgrade to version 1 0 21 now'], others: ['version 21 is 1.0 now'], phrases: ['version 1.0.21', 'version 1-0-21'] },
  { name: 'a date', texts: ['Due 31.12.2024 at noon', 'Due 31/12/2024 at noon', 'Due 31-12-2024 at noon'], others: ['At noon, 2024: due 12 of 31'], phrases: ['due 31.12.2024', '31/12/2024 at noon'] },
  { name: 'thousands', texts: ['It cost 1,234,567 dollars', 'It cost 1.234.567 dollars', 'It cost 1 234 567 dollars'], others: ['It cost 567 dollars, 234 and 1'], phrases: ['1,234,567 dollars', '1.234.567 dollars', '1 234 567 dollars'] },
  { name: 'slashes', texts: ['A client/server model', 'A client-server model', 'A client server model'], others: ['A server, a client, a model'], phrases: ['client/server model', 'client server model'] },
  { name: 'letters with dots', texts: ['The U.S. Department of Energy', 'The U. S. Department of Energy', 'The U S Department of Energy'], others: ['Energy of the department: U or S'], phrases: ['U.S. Department', 'U S Department', 'U. S. Department of Energy'] },
  { name: 'an ampersand', texts: ['The R&D spending grew', 'The R & D spending grew'], others: ['D spending of R grew'], phrases: ['R&D spending', 'R & D spending'] },
  { name: 'an apostrophe in a name', texts: ["Mr O'Brien spoke", 'Mr O’Brien spoke', 'Mr O Brien spoke'], others: ['O, Mr Brien'], phrases: ["Mr O'Brien", 'Mr O Brien', 'O’Brien spoke'] },
  { name: 'French elision', texts: ["Le prix de l'énergie solaire", 'Le prix de l’energie solaire', 'Le prix de l énergie solaire'], others: ["L'énergie, le prix solaire"], phrases: ["l'énergie solaire", 'l energie solaire', "prix de l'énergie"] },
  { name: 'feet and inches', texts: ["He is 5'9 tall", 'He is 5 9 tall'], others: ['He is 9 and 5 tall'], phrases: ["5'9 tall", '5 9 tall'] },
  { name: 'umlauts', texts: ['Die Übersicht der Straßen-Netze ist neu', 'Die Ubersicht der Strassen Netze ist neu'], others: ['Die Netze der Straßen, eine Übersicht'], phrases: ['Übersicht der Straßen-Netze', 'ubersicht der strassen netze'] },
  { name: 'a German compound with a hyphen', texts: ['Die Wasserstoff-Strategie ist nicht neu', 'Die Wasserstoff Strategie ist nicht neu', 'Die Wasserstoff-\nStrategie ist nicht neu'], others: ['Die Wasserstoffstrategie ist nicht neu'], phrases: ['Wasserstoff-Strategie', 'die Wasserstoff Strategie'] },
  { name: 'a word broken at a line end', texts: ['All elec-\ntricity prices rose', 'All electricity prices rose'], others: ['Prices of electricity rose'], phrases: ['electricity prices'] },
  { name: 'a name and its signs', texts: ['A C++ developer wanted'], others: ['A C developer wanted', 'A C# developer wanted'], phrases: ['C++ developer'] },
  { name: 'Chinese', texts: ['中国可再生能源政策报告'], others: ['能源的政策，可再生'], phrases: ['可再生能源', '能源政策'] },
  { name: 'Chinese over a line end', texts: ['中国可再生能\n源政策报告', '中国可再生能源政策报告'], others: ['能源的政策，可再生能'], phrases: ['可再生能源', '可再生能源政策'] },
  { name: 'Japanese over a line end', texts: ['次世代エネル\nギー報告', '次世代エネルギー報告'], others: ['エネル、ギー'], phrases: ['エネルギー報告'] },
  { name: 'Korean words over a line end', texts: ['재생 에너지 정책\n보고서', '재생 에너지\n정책 보고서'], others: ['정책 에너지 재생'], phrases: ['재생 에너지 정책'] },
  { name: 'Latin glued to Chinese', texts: ['新型5G網絡的报告', '新型 5G網絡 的报告'], others: ['網絡5G'], phrases: ['5G網絡'] },
  { name: 'Latin glued to Korean', texts: ['우리는 ChatGPT를 사용한다'], others: ['를 ChatGPTX 사용'], phrases: ['ChatGPT를', 'ChatGPT'] },
  { name: 'Thai and Khmer', texts: ['รายงานพลังงานไทย ថាមពលអគ្គិសនី'], others: ['ไทยพลังงาน'], phrases: ['พลังงานไทย', 'អគ្គិសនី'] },
];

/** A folder of documents that are called something, and of one with notes. */
const CALLED_IN = 1_000;
const excerpt = (page: number, text: string, extra?: string) => ({ position: page - 1, page, section: null, text, ...(extra === undefined ? {} : { extra }) });
const CALLED = [
  { id: 'titled', title: 'Annual Energy Outlook', name: 'scan0007.pdf', text: 'Coal falls.' },
  { id: 'named', title: '', name: 'Annual_Energy-Outlook.pdf', text: 'Oil rises.' },
  { id: 'both', title: 'Tables', name: 'annual energy outlook (2).pdf', text: 'Gas stays.' },
  { id: 'mentions', title: 'Letter', name: 'letter.pdf', text: 'It is in the annual energy outlook of the year.' },
  { id: 'words', title: 'Outlook', name: 'annual.pdf', text: 'The energy outlook is annual.' },
  { id: 'split', title: 'The annual energy', name: 'outlook.pdf', text: 'Outlook is bright.' },
  { id: 'noted', title: 'Deck', name: 'deck.pptx', chunks: [excerpt(1, 'Opening'), excerpt(2, 'Solar on roofs', 'Speaker: mention the tax credits'), excerpt(3, 'Credits and tax', 'mention others')] },
  { id: 'unnoted', title: 'Minutes', name: 'minutes.docx', text: 'Credits for tax were mentioned; they mention the tax.' },
].map((one, n) => ({ ...one, ref: CALLED_IN + n, folder: CALLED_IN }));

let folder: string;
let library: SearchLibrary;
let reader: SearchReader;
let engine: ReturnType<typeof createEngine>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-phrase-check-'));
  library = createSearchLibrary(join(folder, 'library.db'));
  cases.forEach(({ texts, others = [] }, i) => {
    const named = [...texts.map((text, n) => [`has${n}`, text] as const), ...others.map((text, n) => [`not${n}`, text] as const)];
    library.add(named.map(([id, text], n) => ({ ref: i * 10 + n + 1, id, folder: i + 1, title: '', text })));
  });
  library.add(CALLED);
  library.settle();
  reader = openSearchReader(library.path);
  engine = createEngine(reader);
});

afterAll(() => {
  reader.close();
  library.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (query: string, scope: { folders: number[]; documents: number[] }) => {
  const { ranked, explanation } = rank(engine, { query, scope, depth: 10, explain: true, check: () => {} });
  return { found: ranked.map((one) => one.documentId).toSorted(), phrases: explanation!.phrases.length };
};

describe('quoted phrases', () => {
  it.each(cases.map((one, i) => [one.name, one, i] as const))('%s', (_, { texts, phrases }, i) => {
    for (const phrase of phrases) {
      const query = `"${phrase}"`;
      const all = texts.map((_text, n) => `has${n}`);
      expect({ query, ...ask(query, { folders: [i + 1], documents: [] }) }).toEqual({ query, found: all, phrases: 1 });
      // What other excerpts have decides nothing.
      for (const [n, id] of all.entries()) {
        const alone = ask(query, { folders: [], documents: [i * 10 + n + 1] });
        expect({ query, text: texts[n], ...alone }).toEqual({ query, text: texts[n], found: [id], phrases: 1 });
      }
    }
  });

  const inCalled = (query: string, documents?: number[]) => ask(query, documents === undefined ? { folders: [CALLED_IN], documents: [] } : { folders: [], documents });

  it('are looked for in what a document is called too, whoever else mentions them', () => {
    expect(inCalled('"annual energy outlook"')).toEqual({ found: ['both', 'mentions', 'named', 'titled'], phrases: 1 });
    expect(inCalled('"annual energy outlook"', [CALLED_IN])).toEqual({ found: ['titled'], phrases: 1 });
    // Two phrases may be in two places, one phrase may not.
    expect(inCalled('"annual energy outlook" "coal falls"')).toEqual({ found: ['titled'], phrases: 2 });
    expect(inCalled('"annual energy outlook" "oil falls"').phrases).toBe(0);
    expect(inCalled('"the annual energy outlook is bright"').phrases).toBe(0);
  });

  it('are looked for in the notes of a page', () => {
    expect(inCalled('"mention the tax credits"')).toEqual({ found: ['noted'], phrases: 1 });
    expect(inCalled('"solar on roofs" "mention the tax"')).toEqual({ found: ['noted'], phrases: 2 });
    expect(inCalled('"mention the tax"')).toEqual({ found: ['noted', 'unnoted'], phrases: 1 });
    expect(inCalled('"mention others"')).toEqual({ found: ['noted'], phrases: 1 });
    expect(inCalled('"tax credits mention"').phrases).toBe(0);
  });
});
