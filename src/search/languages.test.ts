/** What people type finds what documents say, in any language: small cases, each a document and a query. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSearchLibrary, type SearchLibrary } from '../../bench/search-library.ts';
import { openSearchReader, type SearchReader } from '../storage/sqlite/search-reader.ts';
import { createEngine, rank } from './ranking.ts';

interface Case {
  name: string;
  /** The document that each of the queries finds first. */
  text: string;
  queries: string[];
  title?: string;
  /** Queries that do not find it. */
  not?: string[];
  /** More documents in the scope. */
  others?: string[];
}

const cases: Case[] = [
  // Chinese, Japanese, Korean, Thai: no spaces, words of one and two characters.
  { name: 'Chinese two-character word inside a run', text: '该函数返回悬空引用，导致程序崩溃。', queries: ['悬空', '悬空引用', '引用', '崩溃'], not: ['空返'] },
  { name: 'Chinese single character', text: '水力发电站位于长江。', queries: ['水', '江'] },
  { name: 'Chinese: the whole phrase beats its parts', text: '可再生能源政策', others: ['能源价格上涨', '政策报告'], queries: ['可再生能源政策', '可再生能源'] },
  { name: 'identifier glued to Chinese', text: '使用gen-itgc工具生成报告', queries: ['gen-itgc', 'itgc', '工具'] },
  { name: 'Latin word glued to Chinese', text: '请打开itgc模块', queries: ['itgc', 'ITGC', '模块'] },
  { name: 'Japanese with kana', text: '再生可能エネルギーの導入が進んでいます。', queries: ['エネルギー', '再生可能', '導入'] },
  { name: 'half-width katakana', text: 'ｴﾈﾙｷﾞｰ白書', queries: ['エネルギー', 'ｴﾈﾙｷﾞｰ'] },
  { name: 'Japanese two-character word', text: '東京都の電力需要', queries: ['電力', '東京', '需要'] },
  { name: 'Korean without the particle', text: '재생에너지 정책은 중요합니다', queries: ['정책', '재생에너지'] },
  { name: 'Korean syllables typed decomposed', text: '전력 시장 보고서', queries: ['전력'.normalize('NFD'), '시장'] },
  { name: 'Thai without spaces', text: 'พลังงานหมุนเวียนในประเทศไทย', queries: ['พลังงาน', 'หมุนเวียน', 'ประเทศไทย'] },
  { name: 'full-width Latin and digits', text: 'ＡＢＣ１２３ の仕様', queries: ['ABC123', 'abc123', 'ＡＢＣ１２３'] },
  // Arabic, Hebrew, Persian.
  { name: 'Arabic with diacritics, asked without', text: 'الطَّاقَةُ المُتَجَدِّدَة', queries: ['الطاقة', 'طاقة', 'المتجددة'] },
  { name: 'Arabic without diacritics, asked with', text: 'أسعار الطاقة ترتفع', queries: ['الطَّاقَة', 'أَسْعَار', 'اسعار'] },
  { name: 'Arabic alef and ta marbuta spellings', text: 'إدارة المدرسة', queries: ['ادارة', 'المدرسه'] },
  { name: 'Arabic conjunction and article written on', text: 'الشمس والطاقة والرياح', queries: ['الطاقة', 'رياح'] },
  { name: 'Arabic tatweel', text: 'الكهـــرباء', queries: ['الكهرباء', 'كهرباء'] },
  { name: 'Arabic digits', text: 'تقرير عام ٢٠٢٣', queries: ['2023', '٢٠٢٣'] },
  { name: 'Hebrew points', text: 'שָׁלוֹם עולם', queries: ['שלום'] },
  { name: 'Persian with a zero-width non-joiner', text: 'می‌خواهم کتاب بخوانم', queries: ['می‌خواهم', 'کتاب', 'كتاب'] },
  // German.
  { name: 'German umlaut, asked with, without and spelled out', text: 'Die Übersicht über die Häuser', queries: ['Übersicht', 'Ubersicht', 'Uebersicht', 'übersicht'] },
  { name: 'German ss and ß', text: 'Die Straße ist gesperrt und die Maße stimmen nicht', queries: ['Strasse', 'STRASSE', 'straße', 'Straßen'] },
  { name: 'German plural', text: 'Die Häuser werden mit Wärmepumpen geheizt.', queries: ['Haus', 'Wärmepumpe', 'waermepumpen'] },
  { name: 'German compound by its start', text: 'Die Wasserstoffstrategie der Bundesregierung ist nicht neu.', queries: ['Wasserstoff', 'Wasserstoffstrategien'] },
  { name: 'German: the word itself before compounds with it', text: 'Der Wasserstoff ist leicht und das ist gut.', others: ['Die Wasserstoffstrategie ist nicht neu und das ist gut.'], queries: ['Wasserstoff'] },
  { name: 'German capital nouns', text: 'Das Kraftwerk wird im Herbst abgeschaltet', queries: ['kraftwerke', 'KRAFTWERK'] },
  // French, Spanish, Italian, Portuguese, Dutch, Swedish, Russian.
  { name: 'French elision', text: "L'énergie de l'avenir dépend de l’électricité.", queries: ['énergie', 'energie', 'électricité', "l'électricité", 'avenir'] },
  { name: 'French plural and accents', text: 'Les émissions des véhicules électriques sont faibles.', queries: ['véhicule électrique', 'vehicule electrique', 'emission'] },
  { name: 'French ligature', text: 'Le cœur du réacteur et les œuvres', queries: ['coeur', 'cœur', 'oeuvre'] },
  { name: 'Spanish', text: 'Las centrales eléctricas y la generación de energía eólica en España', queries: ['energia eolica', 'generación', 'central electrica', 'Espana'] },
  { name: 'Spanish ñ', text: 'El año pasado los niños visitaron la montaña', queries: ['año', 'montaña', 'montana', 'niño'] },
  { name: 'Italian', text: 'La produzione delle centrali elettriche è aumentata nelle città', queries: ['centrale elettrica', 'città', 'citta', 'produzioni'] },
  { name: 'Portuguese', text: 'A geração de eletricidade não aumentou nas usinas hidrelétricas', queries: ['geração', 'geracao', 'usina hidrelétrica', 'hidreletricas'] },
  { name: 'Dutch', text: 'De windmolens op zee leveren steeds meer elektriciteit aan de huizen', queries: ['windmolen', 'huizen', 'elektriciteit'] },
  { name: 'Dutch compound by its start', text: 'De energiebesparing van de huishoudens is niet gering', queries: ['energie'] },
  { name: 'Swedish', text: 'Vindkraftverken på ön levererar el till städerna och är nya', queries: ['vindkraftverk', 'städer', 'stader', 'vindkraft'] },
  { name: 'Russian inflection', text: 'Производство электроэнергии на атомных станциях выросло', queries: ['станция', 'атомная электроэнергия', 'ПРОИЗВОДСТВО'] },
  { name: 'Russian ё', text: 'Самолёт полетел и все были рады', queries: ['самолет', 'самолёт', 'самолеты'] },
  { name: 'Russian й written decomposed', text: 'Новый район города'.normalize('NFD'), queries: ['новый район', 'район'] },
  { name: 'Greek accents and final sigma', text: 'Ο άνεμος και ο ήλιος', queries: ['άνεμος', 'ανεμος', 'ΑΝΕΜΟΣ', 'ήλιος'] },
  { name: 'Polish without its letters', text: 'Źródła energii odnawialnej w Łodzi', queries: ['zrodla', 'Łodzi', 'lodzi'] },
  { name: 'Danish letters', text: 'Ørsted bygger nye møller på havet', queries: ['orsted', 'Ørsted', 'møller'] },
  { name: 'Czech', text: 'Spotřeba elektřiny v domácnostech', queries: ['spotreba', 'elektřiny'] },
  { name: 'Vietnamese', text: 'Năng lượng tái tạo ở Việt Nam', queries: ['nang luong', 'Việt Nam', 'viet nam'] },
  { name: 'Hindi', text: 'नवीकरणीय ऊर्जा की नीति', queries: ['ऊर्जा', 'नवीकरणीय'] },
  { name: 'Turkish dotted and dotless i', text: 'İstanbul ve Isparta ışık santrali', queries: ['istanbul', 'İSTANBUL', 'ISTANBUL', 'ısparta', 'isparta', 'isik', 'ışık'] },
  { name: 'English words in a Russian document', text: 'Отчёт о проекте Smart Grids и его стоимости', queries: ['smart grid', 'отчет'] },
  { name: 'two languages in one scope', text: 'Electric vehicles sell well', others: ['Die Fahrzeuge verkaufen sich nicht so gut'], queries: ['vehicle', 'electric vehicles'] },
  // English.
  { name: 'plural, case and inflection', text: 'The CITIES connected their batteries to the grid', queries: ['city', 'Battery', 'connect', 'grids', 'connecting'] },
  { name: 'possessive', text: "Europe's and the company’s prices", queries: ['Europe', "Europe's", 'company', 'company’s'] },
  { name: 'accents decomposed and composed', text: 'Résumé of the café'.normalize('NFD'), queries: ['résumé', 'resume', 'café', 'cafe'] },
  { name: 'diacritics kept: the exact form first', text: 'Send the résumé to us.', others: ['We resume the work here.'], queries: ['résumé'] },
  { name: 'ligatures', text: 'The ﬁrst eﬃcient ﬂow', queries: ['first', 'efficient', 'flow', 'ﬁrst'] },
  { name: 'soft hyphens', text: 'elec\u00adtric\u00adity and e\u00adlec\u00adtric cars', queries: ['electricity', 'electric'] },
  { name: 'word broken at a line end', text: 'The photo-\nvoltaic panels and the long-\nterm plan', queries: ['photovoltaic', 'long', 'term', 'long-term'] },
  { name: 'zero-width characters inside a word', text: 'hydro\u200bgen is a gas', queries: ['hydrogen'] },
  { name: 'typo: a letter less', text: 'The electricity market', queries: ['electrcity', 'electicity'] },
  { name: 'typo: letters swapped', text: 'The efficiency of turbines', queries: ['effiicency', 'efficeincy'] },
  { name: 'typo: two letters in a long word', text: 'Environmental considerations', queries: ['enviromentel'] },
  { name: 'no correction while the word itself is found', text: 'The coast of the lake', others: ['The costs of the lake'], queries: ['coast'] },
  // Identifiers.
  { name: 'version number', text: 'Upgrade to version 1.0.21 today', others: ['Upgrade to version 1.0.2 today', 'Upgrade to 1.021'], queries: ['1.0.21', 'version 1.0.21'] },
  { name: 'calendar version', text: 'Released as 2026.4.10', others: ['Released as 2026.4.1'], queries: ['2026.4.10'] },
  { name: 'part number whole, by its start and in parts', text: 'The TPS71725QDRV regulator', queries: ['TPS71725QDRV', 'tps71725qdrv', 'TPS717', 'TPS71725', '71725'] },
  { name: 'identifiers are never corrected', text: 'The TPS71725QDRV regulator', queries: ['TPS71725QDRV'], not: ['TPS71726QDRV', 'TPS71725QDRW', 'TPS7172SQDRV'] },
  { name: 'report name with quarter', text: 'See AEO2023-Q4 for details', others: ['See AEO2022-Q4 for details'], queries: ['AEO2023-Q4', 'aeo2023', 'AEO2023', 'AEO 2023'] },
  { name: 'code name with dashes', text: 'Project gen-itgc starts', queries: ['gen-itgc', 'gen itgc', 'itgc'] },
  { name: 'code name with underscores', text: 'Set max_queue_length to 5', queries: ['max_queue_length', 'queue length'] },
  { name: 'code name with dots', text: 'It runs on node.js only', queries: ['node.js', 'Node.js', 'node'] },
  { name: 'C++ and C#', text: 'Written in C++ by hand', others: ['Written in C by hand', 'Written in C# by hand'], queries: ['C++', 'c++'] },
  { name: 'e-mail and email', text: 'Send an e-mail to ava@example.com', queries: ['email', 'e-mail', 'ava@example.com', 'example.com'] },
  { name: 'hyphenated and joined names', text: 'Levels of IL-10 and COVID-19', queries: ['IL10', 'IL-10', 'covid19', 'covid-19', 'covid'] },
  { name: 'dates', text: 'Signed on 2023-10-11 in Paris', others: ['Signed on 2023-10-12 in Paris'], queries: ['2023-10-11', '2023'] },
  { name: 'dates with slashes and dots', text: 'Due 31/12/2024 or 31.12.2024', queries: ['31/12/2024', '31.12.2024'] },
  { name: 'numbers with thousands separators', text: 'It cost 1,234,567 dollars', queries: ['1,234,567', '1234567'] },
  { name: 'percent and currency', text: 'Prices rose 12.5% to €300', queries: ['12.5%', '12.5', '€300', '300'] },
  { name: 'paragraph sign and ranges', text: 'See §15a and pages 1950–2050', queries: ['§15a', '15a', '1950-2050', '2050'] },
  { name: 'file name as title', text: 'Nothing of it in the text.', title: 'IEO2023_Release_Presentation', queries: ['IEO2023', 'release presentation', 'IEO2023_Release_Presentation'] },
  { name: 'acronym that is a function word', text: 'The IT department of the WHO', others: ['it is what it is, who knows'], queries: ['the IT department', 'what does the WHO say'] },
  { name: 'chemical formulas', text: 'CO2 and H2O and NOₓ', queries: ['CO2', 'h2o', 'co2'] },
  { name: 'superscripts and subscripts', text: 'CO₂ per m²', queries: ['CO2', 'm2'] },
  // Phrases.
  { name: 'quoted phrase', text: 'The fast reactor core melted', others: ['The reactor was fast, its core cold', 'core reactor fast'], queries: ['"fast reactor core"', '“fast reactor”', '«reactor core»'] },
  { name: 'quoted phrase over a line end and other case', text: 'Annual Energy\nOutlook', others: ['The outlook for annual energy use'], queries: ['"annual energy outlook"'] },
  { name: 'quoted phrase that nowhere stands is plain words', text: 'The reactor core', queries: ['"core reactor"'] },
  { name: 'quoted Chinese', text: '可再生能源政策', others: ['能源 可再生 政策'], queries: ['"可再生能源"'] },
  { name: 'starred start of a word', text: 'The electrolyser', queries: ['electroly*'] },
];

let folder: string;
let library: SearchLibrary;
let reader: SearchReader;
let engine: ReturnType<typeof createEngine>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sergo-languages-'));
  library = createSearchLibrary(join(folder, 'library.db'));
  // Each case is a folder of its own, so that cases do not know of each other.
  cases.forEach(({ text, title, others = [] }, i) => {
    const texts = [text, ...others];
    library.add(texts.map((body, n) => ({ ref: i * 10 + n + 1, id: `case${n}`, folder: i + 1, title: n === 0 ? (title ?? '') : '', text: body })));
  });
  library.settle();
  reader = openSearchReader(library.path);
  engine = createEngine(reader);
});

afterAll(() => {
  reader.close();
  library.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (query: string, inFolder: number): string[] =>
  rank(engine, { query, scope: { folders: [inFolder], documents: [] }, depth: 10, explain: false, check: () => {} }).ranked.map((one) => one.documentId);

describe('words in any language', () => {
  it('has at least sixty cases', () => {
    expect(cases.length).toBeGreaterThanOrEqual(60);
  });

  it.each(cases.map((one, i) => [one.name, one, i + 1] as const))('%s', (_, { queries, not = [] }, inFolder) => {
    for (const query of queries) expect({ query, first: ask(query, inFolder)[0] }).toEqual({ query, first: 'case0' });
    for (const query of not) expect({ query, found: ask(query, inFolder) }).toEqual({ query, found: [] });
  });
});
