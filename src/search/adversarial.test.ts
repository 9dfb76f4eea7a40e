/**
 * What people and agents type that searches trip over, each with a neighbour that must not win: languages mixed in one scope, marks
 * of all kinds, names that look like syntax. Beside languages.test.ts, which is the list of what is promised.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSearchLibrary, type SearchLibrary } from '../../bench/search-library.ts';
import { openSearchReader, type SearchReader } from '../storage/sqlite/search-reader.ts';
import { createEngine, rank } from './ranking.ts';

interface Case {
  name: string;
  text: string;
  /** Each of them finds the text first. */
  queries: string[];
  /** None of them finds anything. */
  not?: string[];
  others?: string[];
}

const english = 'The river is long and the people of the town live near it, as they have done for many years.';
const german = 'Der Fluss ist lang und die Leute in der Stadt wohnen nicht weit davon, wie es immer war.';
const french = 'La rivière est longue et les gens de la ville ne sont pas loin, comme ils le sont depuis des années.';

const cases: Case[] = [
  // Words that are function words of another language in the scope.
  { name: 'English “war” beside German', text: 'The war ended and the people of the town were free.', others: [german, english], queries: ['war', 'the war', 'the end of the war'] },
  { name: 'English “hat” and “man” beside German', text: 'The man had a hat in the shop and that was all.', others: ['Der Zug hat Verspätung und man wartet nicht gern auf ihn, wie es in der Stadt schon immer war.', english], queries: ['hat', 'man', 'a man with a hat'] },
  { name: 'English “son” and “pour” beside French', text: 'The son will pour the tea for all of them.', others: [french, "Le train est pour Paris et son départ n'est pas prévu."], queries: ['son', 'pour tea'] },
  { name: 'German “die” stays a function word beside English', text: 'Die Dächer der Stadt sind nicht rot und das ist gut so.', others: ['All of the plants die in the winter of that year.', english], queries: ['die Dächer', 'die Dächer der Stadt'] },
  { name: 'function words of one language alone still find nothing beside another', text: english, others: [german], queries: ['the river'], not: ['the', 'of the', 'und', 'der die das'] },
  { name: 'function words alone are found when quoted', text: 'To be or not to be, that is the question.', others: ['Be that as it may, to or not.'], queries: ['"to be or not to be"', '"not to be"'] },
  // Quotation marks of the world.
  { name: 'function words in a phrase, however they are joined', text: 'The to-be state of the-\nse things, as it is for-ever', others: ['Be to it as the state is.'], queries: ['"to be"', '"to-be"', '"as it is"', '"As it is"'] },
  { name: 'function words of two phrases, one with a word that tells', text: 'It is of the reactor to be.', others: ['Of the reactor is to it be.', 'It is the reactor of be to.'], queries: ['"it is" "of the reactor"', '"it is" "to be"'] },
  { name: 'French function words in a phrase', text: "Ce qu'il y a de plus est dans l'eau.", others: ["Il est dans l'eau, y a de plus ce que."], queries: ['"qu\'il y a"', '"qu’il y a de"'] },
  { name: 'quotes: Swedish and Finnish', text: 'Fast reactor core', others: ['core of a fast reactor'], queries: ['”fast reactor core”', '»fast reactor core»'] },
  { name: 'quotes: German and Danish guillemets', text: 'Fast reactor core', others: ['core of a fast reactor'], queries: ['»fast reactor core«', '„fast reactor core“', '„fast reactor core”'] },
  { name: 'quotes: Japanese double and full width', text: '可再生能源政策', others: ['能源政策可再生'], queries: ['『可再生能源』', '＂可再生能源＂', '「可再生能源」'] },
  { name: 'inch marks are no phrase', text: 'A 5" pipe and a 6" valve', others: ['Six pipes', 'Five valves'], queries: ['5" pipe 6" valve', 'pipe 6"'] },
  { name: 'a phrase with a hyphen finds it without, and the reverse', text: 'The long term plan was signed', others: ['A plan for a long time: the term ends'], queries: ['"long-term plan"', '"long term plan"'] },
  { name: 'a phrase with an apostrophe of another kind', text: "The company’s annual report", others: ['annual report of companies'], queries: ['"the company\'s annual report"'] },
  { name: 'a phrase with an identifier in it', text: 'Upgrade to version 1.0.21 now', others: ['version 1.0.2 is out: upgrade to 21', 'now version 21'], queries: ['"version 1.0.21"'] },
  { name: 'a phrase in Arabic with and without vowel signs', text: 'وزارة الطَّاقَة والمياه', others: ['المياه في وزارة أخرى', 'الطاقة والمياه'], queries: ['"وزارة الطاقة"', '«وزارة الطاقة»'] },
  { name: 'two phrases', text: 'The fast reactor has a cold trap inside', others: ['The fast reactor is cold', 'A cold trap, a fast reactor core'], queries: ['"fast reactor" "cold trap inside"'] },
  // Names that look like syntax.
  { name: 'dotted capitals and plain ones', text: 'The U.S. Department of Energy', others: ['It tells us of energy and departments'], queries: ['US department', 'U.S. department', 'u.s.'] },
  { name: 'dotted capitals written plain in the text', text: 'The EU and the UK agree', others: ['e and u are letters'], queries: ['E.U.', 'U.K.', 'EU'] },
  { name: 'ampersands in names', text: 'R&D spending of AT&T', others: ['Plan D of Mr R costs more: spending T', 'at a t-junction'], queries: ['R&D', 'AT&T', 'r&d spending'] },
  { name: 'a leading dot', text: 'It targets .NET 8', others: ['A net of eight strings'], queries: ['.NET 8'] },
  { name: 'file paths and their names', text: 'Edit /etc/nginx/nginx.conf and restart', others: ['Edit the notes and restart'], queries: ['nginx.conf', '/etc/nginx/nginx.conf', 'nginx conf'] },
  { name: 'legal references', text: 'Directive 2009/28/EC, § 15 Abs. 2', others: ['Directive 2009/29/EC, § 16 Abs. 2'], queries: ['2009/28/EC', '§ 15', 'directive 2009/28'] },
  { name: 'standards with and without a space', text: 'Certified to ISO 9001:2015', others: ['Certified to ISO 14001:2015'], queries: ['ISO 9001:2015', 'ISO 9001', 'ISO9001', 'iso-9001'] },
  { name: 'addresses of machines', text: 'The gateway is 192.168.0.1 here', others: ['The printer is 192.168.0.10 here', 'The scanner is 192.168.1.0 here'], queries: ['192.168.0.1'] },
  { name: 'part numbers by their start, never their neighbours', text: 'Use LM358N or TLV3501', others: ['Use LM324'], queries: ['LM358', 'TLV35'], not: ['LM359', 'LM358NX', 'TLW3501X'] },
  { name: 'identifiers in lower case with digits are never corrected', text: 'Gene brca1 on chromosome 17', queries: ['brca1', 'BRCA1'], not: ['brcb1', 'bcra7'] },
  { name: 'a number is no other number', text: 'Order 20231', queries: ['20231'], not: ['20232', '2O231'] },
  { name: 'thousands written in other ways', text: 'Es waren 1.234.567 Euro, oder 7 654 321 Kronen, und 9’876’543 Franken', queries: ['1234567', '1.234.567', '9876543', "9'876'543"] },
  { name: 'signs glued on', text: 'It cost $300 (net), i.e. 12%—more than before', others: ['It was less than 3000 or 120'], queries: ['$300', '(net)', '12%', 'cost?'] },
  { name: 'e-mail, hash tag and handle', text: 'Write to ava.bennett@example.com, #energy, @sergo', others: ['Bennett wrote an example'], queries: ['ava.bennett@example.com', '#energy', '@sergo'] },
  { name: 'words around a slash, an underscore and a plus', text: 'client/server model, snake_case and C++', others: ['A snake in a case'], queries: ['client server', 'server', 'snake_case', 'c++'] },
  { name: 'versions with and without a v', text: 'Released v1.2.3 of the tool', others: ['Version 2 and 3 and 1 more', 'Released 1.2.4 of the tool'], queries: ['1.2.3', 'v1.2.3', 'V1.2.3', '"released v1.2.3"'] },
  { name: 'versions asked with a v', text: 'Released 1.2.3 of the tool', others: ['Version 2 and 3 and 1 more', 'Released v1.2.4 of the tool'], queries: ['v1.2.3', '1.2.3'] },
  { name: 'a letter, a dot and a number', text: 'Encoded as H.264 video', others: ['Page 264 of H', 'Encoded as H.265 video'], queries: ['H264', 'h.264'] },
  { name: 'a letter and a number asked with a dot', text: 'Encoded as H264 video', others: ['Page 264 of H', 'Encoded as H265 video'], queries: ['H.264', 'h264'] },
  { name: 'book and telephone numbers in groups and in one', text: 'ISBN 978-3-16-148410-0, call +1-202-555-0123', others: ['978 pages, 3 of 16, 202 by 555'], queries: ['9783161484100', '978-3-16-148410-0', '+12025550123', '202-555-0123'] },
  { name: 'numbers in one asked in groups', text: 'ISBN 9783161484100', others: ['978 pages, 3 of 16'], queries: ['978-3-16-148410-0'] },
  { name: 'names with an apostrophe', text: 'Mr O’Brien of L’Oréal', others: ['A brie and an oreo'], queries: ['OBrien', "o'brien", 'LOreal', "L'Oréal", 'Oréal'] },
  { name: 'gene, drug and chemical names', text: 'α-synuclein, IL-2Rα and 3,5-dihydroxybenzoic acid', others: ['IL-2 and 3,4-dihydroxybenzoic acid'], queries: ['alpha α-synuclein', 'synuclein', 'IL-2Rα', '3,5-dihydroxybenzoic acid'] },
  // Digits and letters of other scripts.
  { name: 'Devanagari digits', text: 'वर्ष २०२३ की रिपोर्ट', queries: ['2023', '२०२३'] },
  { name: 'Thai digits glued to words', text: 'รายงานปี๒๕๖๖', queries: ['2566', '๒๕๖๖', 'รายงาน'] },
  { name: 'Bengali and Persian digits', text: 'সাল ২০২১ এবং ۱۴۰۲', queries: ['2021', '1402', '২০২১'] },
  { name: 'identifiers glued to Japanese', text: '新型5G網とIL-6検査、AEO2023報告', queries: ['5G', 'IL-6', 'AEO2023', 'il6', '報告'] },
  { name: 'Latin glued to Korean with a particle', text: 'ChatGPT를 사용한 API는 빠르다', queries: ['ChatGPT', 'API'] },
  { name: 'Turkish capital ı and i', text: 'DIŞ TİCARET ve ILICA', queries: ['dış ticaret', 'dis ticaret', 'ılıca', 'Ilıca', 'ticaret'] },
  { name: 'Turkish suffix behind an apostrophe', text: "İstanbul'da yapılan toplantı", queries: ['istanbul', "İstanbul'un", 'ISTANBUL'] },
  { name: 'Vietnamese with đ, decomposed', text: 'Điện lực miền Bắc và những nhà máy'.normalize('NFD'), queries: ['điện lực', 'dien luc', 'nha may', 'ĐIỆN'] },
  { name: 'Greek in capitals, final sigma inside and at the end', text: 'Οι ΝΌΜΟΙ και ο νόμος της πόλεως', queries: ['νομος', 'ΝΟΜΟΣ', 'νόμοι', 'ΠΟΛΕΩΣ', '"ο νομος"'] },
  { name: 'Finnish, exact, folded and by its start', text: 'Sähköautojen myynti kasvoi ja oli suurempi kuin ennen', queries: ['sähköautojen', 'sahkoautojen', 'sähköauto', 'myynti'] },
  { name: 'Polish, exact, folded and one letter off', text: 'Rynek energii odnawialnej rośnie', queries: ['energii', 'rosnie', 'odnawialnej', 'odnawialna'] },
  { name: 'Czech, exact and folded', text: 'Příliš žluťoučký kůň pěl ďábelské ódy', queries: ['zlutoucky', 'kůň', 'kun', 'dabelske ody'] },
  { name: 'Hungarian with double acute', text: 'Az erőmű hűtővize és az ár', queries: ['erőmű', 'eromu', 'hutoviz', 'ERŐMŰ'] },
  { name: 'Ukrainian with an apostrophe', text: 'Здоров’я людей і п’ять років', queries: ["здоров'я", 'здоров’я'] },
  { name: 'Arabic letters in their presentation forms', text: 'ﺍﻟﻄﺎﻗﺔ ﺍﻟﺸﻤﺴﻴﺔ', queries: ['الطاقة الشمسية', 'شمسية'] },
  { name: 'Arabic misspelt', text: 'تقرير عن الكهرباء في المدينة', queries: ['الكهربائ', 'الكهرابء'] },
  { name: 'Hebrew misspelt', text: 'דוח על החשמל בעיר', queries: ['החשמך', 'החשל'] },
  { name: 'Russian misspelt, with ё for е', text: 'Электроэнергия подорожала', queries: ['электроэнегрия', 'элёктроэнергия'] },
  { name: 'Khmer and Lao without spaces', text: 'ថាមពលអគ្គិសនី ພະລັງງານ', queries: ['ថាមពល', 'ພະລັງງານ', 'អគ្គិសនី'] },
  // German and its neighbours.
  { name: 'German compound with a hyphen and without', text: 'Die Wasserstoff-Strategie ist nicht neu', others: ['Die Strategie ist nicht neu und das Wasser auch nicht'], queries: ['Wasserstoffstrategie', 'Wasserstoff-Strategie', 'Wasserstoff'] },
  { name: 'German spelt without umlauts in the text', text: 'Die Uebersicht ueber die Strassen ist nicht neu', queries: ['Übersicht', 'Straßen', 'uebersicht'] },
  { name: 'French elision of every kind', text: "Jusqu'à l’été, c'est-à-dire aujourd’hui, qu'on dise « n° 5 » ou non", queries: ['été', "aujourd'hui", 'jusqu’à', 'n° 5'] },
  // Noise that is no query.
  { name: 'emoji, arrows and stars around words', text: 'Solar panels pay back', others: ['Wind pays'], queries: ['☀️ solar ➜ panels ⭐', '**solar** __panels__', '<mark>solar</mark>', '`solar`', '{{solar}}', 'solar\u200d panels', '\ufeffsolar'] },
  { name: 'a pasted page with the word in it', text: 'The hydrazine tank leaked', others: [english], queries: [`${Array.from({ length: 60 }, (_, i) => `and then of the thing${'abcdefghij'[i % 10]}${'klmnop'[Math.floor(i / 10)]}`).join(' ')} hydrazine`] },
  { name: 'everything in capitals', text: 'the who report on it', others: ['a note on other things'], queries: ['WHO REPORT ON IT', 'REPORT'] },
];

let folder: string;
let library: SearchLibrary;
let reader: SearchReader;
let engine: ReturnType<typeof createEngine>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-adversarial-'));
  library = createSearchLibrary(join(folder, 'library.db'));
  cases.forEach(({ text, others = [] }, i) => {
    library.add([text, ...others].map((body, n) => ({ ref: i * 10 + n + 1, id: `case${n}`, folder: i + 1, title: '', text: body })));
  });
  const long = ['The hydrazine tank leaked', ...Array.from({ length: 3 }, () => fillers.join(' '))];
  library.add(long.map((text, n) => ({ ref: LONG + n, id: `long${n}`, folder: LONG, title: '', text })));
  library.settle();
  reader = openSearchReader(library.path);
  engine = createEngine(reader);
});

afterAll(() => {
  reader.close();
  library.close();
  rmSync(folder, { recursive: true, force: true });
});

const LONG = 100_000;
/** A hundred and twenty words that three documents have, in this order: one of them alone is no clue. */
const fillers = Array.from({ length: 120 }, (_, i) => `filler${'abcdefghij'[i % 10]}${'klmnopqrstuvwxyzabcd'[Math.floor(i / 10)]}`);

const ask = (query: string, inFolder: number): string[] =>
  rank(engine, { query, scope: { folders: [inFolder], documents: [] }, depth: 10, explain: false, check: () => {} }).ranked.map((one) => one.documentId);

describe('what searches trip over', () => {
  it.each(cases.map((one, i) => [one.name, one, i + 1] as const))('%s', (_, { queries, not = [] }, inFolder) => {
    const wrong = queries.flatMap((query) => (ask(query, inFolder)[0] === 'case0' ? [] : [{ query, found: ask(query, inFolder) }]));
    const found = not.flatMap((query) => (ask(query, inFolder).length === 0 ? [] : [{ query, found: ask(query, inFolder) }]));
    expect({ wrong, found }).toEqual({ wrong: [], found: [] });
  });

  it('of a hundred and more words the most telling are searched, wherever they stand', () => {
    const explained = (query: string) =>
      rank(engine, { query, scope: { folders: [LONG], documents: [] }, depth: 10, explain: true, check: () => {} });
    const { ranked, explanation } = explained(`the ${fillers.join(' the ')} unheard of hydrazine`);
    const words = explanation!.words.map((one) => one.word);
    expect(words).toHaveLength(64);
    expect(words.at(-1)).toBe('hydrazine');
    expect(words).not.toContain('unheard');
    expect(words).not.toContain('the');
    expect(ranked.map((one) => one.documentId)).toContain('long0');
    // What stands in a phrase is never left out.
    expect(explained(`${fillers.join(' ')} "tank leaked"`).ranked.map((one) => one.documentId)).toEqual(['long0']);
    // An identifier keeps its pieces' place behind it.
    expect(explained(`${fillers.join(' ')} AEO2023`).explanation!.words).toHaveLength(64);
  });

  it('what a function word is, is decided inside the scope: the German around it is other people’s', () => {
    const alone = mkdtempSync(join(tmpdir(), 'sergo-adversarial-alone-'));
    const own = createSearchLibrary(join(alone, 'library.db'));
    const texts = ['The war ended and the people of the town were free.', english];
    own.add(texts.map((text, n) => ({ ref: n + 1, id: `case${n}`, folder: 1, title: '', text })));
    const alonely = openSearchReader(own.path);
    // The first case has the same two documents and a German one, in the midst of all the others.
    const here = createEngine(alonely);
    const scope = { folders: [], documents: [1, 3] };
    for (const query of ['war', 'the war', 'the', 'a war and a man', 'the end of the war']) {
      const look = (searched: typeof engine, within: { folders: number[]; documents: number[] }) =>
        rank(searched, { query, scope: within, depth: 10, explain: true, check: () => {} });
      const [among, by] = [look(engine, scope), look(here, { folders: [1], documents: [] })];
      const shown = ({ ranked, explanation }: typeof among) => [ranked.map(({ score, page }) => [score, page]), explanation!.words];
      expect({ query, answer: shown(among) }).toEqual({ query, answer: shown(by) });
    }
    alonely.close();
    own.close();
    rmSync(alone, { recursive: true, force: true });
  });
});
