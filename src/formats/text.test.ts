import { readFileSync } from 'node:fs';
import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { hasShared, sharedPath } from '../../test/support/shared.ts';
import { detectDelimiter, readCsv } from './csv.ts';
import { readMarkdown } from './markdown.ts';
import { decodeText, readText } from './text.ts';

const options = { name: 'a.txt', maxPages: 5_000, maxUnpackedBytes: 1024 ** 3 };
const utf8 = (text: string) => Buffer.from(text, 'utf8');

const western = ['windows-1252', 'macintosh', 'cp850', 'cp437'];
const central = ['windows-1250', 'iso-8859-2', 'cp852'];
const samples: [text: string, encodings: string[]][] = [
  ['The company’s report — its first — says that “growth” wasn’t slow; the café’s closed.', ['windows-1252', 'macintosh']],
  ['Größere Mengen Öl für die Übernahme: schöne Grüße aus München.', [...western, 'iso-8859-15']],
  ['Où sont passés les élèves ? Ça fait déjà très longtemps, à côté de la forêt où il naît.', [...western, 'iso-8859-15']],
  ['L’été dernier, l’élève à côté de la forêt où naît un cœur brûlé.', ['windows-1252', 'macintosh']],
  ['¿Cuándo llegará el niño a la estación? Según la información, será mañana.', western],
  ['A informação não está disponível até amanhã; os cidadãos têm razão.', ['windows-1252', 'macintosh', 'cp850']],
  ['La città è più bella di quanto pensassi, perché però così è la libertà.', western],
  ['De financiële situatie van België is verbeterd; er zijn twee ideeën over reünies.', western],
  ['Företaget har ökat försäljningen på ön för många år sedan.', western],
  ['Børnene går i skole på øen, og æblerne er røde. Vi håber, det går.', ['windows-1252', 'macintosh', 'cp850', 'cp865']],
  ['Zażółć gęślą jaźń. Wyślij dokumenty do działu księgowości.', central],
  ['Příliš žluťoučký kůň úpěl ďábelské ódy na břehu řeky.', central],
  ['A kormány új törvényt fogadott el; őszintén szólva nem értem, hogy örül.', central],
  ['Bu bir Türkçe belgedir; şişli, ığdır, çağrı, göğüs ve güneşli.', ['windows-1254', 'iso-8859-9']],
  ['Съешь же ещё этих мягких французских булок, да выпей чаю.', ['windows-1251', 'koi8-r', 'cp866', 'iso-8859-5', 'maccyrillic']],
  ['ЗАПРОС О ПРЕДОСТАВЛЕНИИ ИНФОРМАЦИИ', ['windows-1251', 'koi8-r', 'cp866', 'iso-8859-5']],
  ['Уряд ухвалив новий закон про податки, її діти живуть у Києві.', ['windows-1251', 'koi8-u']],
  ['Αυτό είναι ένα ελληνικό έγγραφο για δοκιμή κωδικοποίησης.', ['windows-1253', 'iso-8859-7']],
  ['זהו מסמך בעברית לבדיקת קידוד של הממשלה', ['windows-1255', 'iso-8859-8']],
  ['هذه وثيقة باللغة العربية لاختبار الترميز', ['windows-1256']],
  ['นี่คือเอกสารภาษาไทยสำหรับทดสอบการเข้ารหัส', ['windows-874']],
  ['これは日本語の文書です。東京タワーへ行きました。検索エンジンのテスト。', ['shift_jis', 'euc-jp']],
  ['这是一个中文文档，用于测试编码检测。我们需要找到正确的页面。', ['gb18030']],
  ['這是一個中文文件，用於測試編碼偵測。我們需要找到正確的頁面。', ['big5']],
  ['이것은 한국어 문서입니다. 검색 엔진을 시험합니다.', ['euc-kr']],
];

test.each(samples.flatMap(([text, encodings]) => [...encodings, 'utf8', 'utf16le', 'utf16be'].map((encoding) => ({ encoding, text }))))('$encoding is detected: $text', ({ encoding, text }) => {
  // Line ends are not in the way, and a file is as readable when only its last line is not ASCII.
  for (const written of [text, `${text}\r\n`, encoding.startsWith('utf16') ? text : `${'plain words\n'.repeat(30_000)}${text}`]) {
    expect(decodeText(iconv.encode(written, encoding)).text).toBe(written.replaceAll('\r\n', '\n'));
  }
});

test('a short file is not taken for something exotic', () => {
  const short = ['Köln', 'Müller', 'São Paulo', 'café', 'naïve', 'Übersicht', '20 °C', '£40', '5 µm wide', '© 2004 by the authors', 'é', 'Málaga', 'Zürich, Genève', 'It’s', '“yes”', 'Ångström', 'Øystein'];
  for (const text of short) expect(decodeText(iconv.encode(text, 'windows-1252'))).toMatchObject({ text });
  for (const text of ['a', 'ok', 'plain text', 'x\n', 'a;b\n1;2\n', ...short]) expect(decodeText(utf8(text)).encoding).toBe('utf-8');
  for (const text of ['ab', 'Bericht', 'Да', 'Привет', 'Γειά', 'שלום', '日本語の文書']) expect(decodeText(iconv.encode(text, 'utf16le'))).toMatchObject({ text, encoding: 'utf-16le' });
});

test('frames and Japanese shifts of old programs are read', () => {
  const table = '┌──────┬─────┐\n│ Größe│ Öl  │\n├──────┼─────┤\n│ für  │ über│\n└──────┴─────┘';
  expect(decodeText(iconv.encode(table, 'cp850')).text).toBe(table);
  expect(decodeText(Buffer.from('\u001b$B$3$l$OF|K\\8l\u001b(B ok', 'latin1'))).toMatchObject({ text: 'これは日本語 ok', encoding: 'iso-2022-jp' });
});

test('byte order marks are obeyed and do not stay in the text', () => {
  for (const encoding of ['utf8', 'utf16le', 'utf16be']) expect(decodeText(iconv.encode('plain text', encoding, { addBOM: true })).text).toBe('plain text');
});

test('NUL, control characters and carriage returns go; bad UTF-8 becomes U+FFFD', () => {
  expect(decodeText(Buffer.from('one\u0000two\u0007three\r\nfour\rfive')).text).toBe('onetwothree\nfour\nfive');
  expect(decodeText(Buffer.concat([utf8('größer и больше текста здесь '), Buffer.from([0xff]), utf8(' schön')])).text).toBe('größer и больше текста здесь \ufffd schön');
});

test('binary and empty files are refused with a sentence', () => {
  expect(() => readText(Buffer.alloc(0), options)).toThrow('The file is empty (0 bytes)');
  expect(() => readText(Buffer.from(Array.from({ length: 3_000 }, (_, at) => (at * 97) % 256)), options)).toThrow(/not a text file/);
  expect(() => readText(Buffer.concat([utf8('MZ'), Buffer.alloc(60), utf8('This program cannot be run in DOS mode')]), options)).toThrow(/not a text file/);
});

test('64 MB on one line and 10^5 combining marks end in pages that joined hold every character', () => {
  const line = 'abcdefghi '.repeat(6_700_000);
  const read = readText(utf8(line), options);
  expect(read.pages.length).toBeGreaterThan(1_000);
  expect(read.pages.reduce((sum, page) => sum + page.text.replaceAll(' ', '').length, 0)).toBe(line.replaceAll(' ', '').length);
  const zalgo = readText(utf8(`a${'\u0301'.repeat(100_000)}`), options);
  expect(zalgo.pages.reduce((sum, page) => sum + page.text.length, 0)).toBe(100_001);
});

describe('markdown', () => {
  test('headings become sections, front matter is text and the title, code is no heading', () => {
    const { pages, title } = readMarkdown(utf8('---\ntitle: "My notes"\ntags: [a]\n---\n# One *bold*\n\ntext\n\n```\n# not a heading\n```\n\nTwo\n===\n\n### [Three](x.md) ###\nmore'), options);
    expect(title).toBe('My notes');
    expect(pages[0]!.sections?.map((section) => section.title)).toEqual(['One bold', 'Two', 'Three']);
    expect(pages[0]!.text.startsWith('title: "My notes"\ntags: [a]\n\n# One')).toBe(true);
    expect(pages[0]!.text).toContain('# not a heading');
    for (const { start, title: heading } of pages[0]!.sections!) expect(pages[0]!.text.slice(start, start + 20)).toContain(heading.split(' ')[0]);
  });

  test('a rule at the top is not front matter', () => {
    expect(readMarkdown(utf8('---\n\nHello there\n\n---\nmore'), options).pages[0]!.text).toContain('Hello there');
  });
});

describe('signs around a heading of markdown', () => {
  test.each([
    ['# One', 'One'], ['###### Six ######  ', 'Six'], ['# C#', 'C'], ['## a # #', 'a #'], ['#  ##', '#'], ['#\tTab\t#', 'Tab'],
    ['# [![alt](a.png)](b)', '[alt](b)'], ['# See [a](b) {#see}', 'See a'],
  ])('%j', (line, title) => {
    expect(readMarkdown(utf8(`${line}\n\ntext`), options).pages[0]!.sections).toEqual([{ start: 0, title }]);
  });

  test.each(['#no heading', '# ', '#', '####### seven'])('%j is no heading', (line) => {
    expect(readMarkdown(utf8(`${line}\n\ntext`), options).pages[0]!.sections ?? []).toEqual([]);
  });
});

describe('csv', () => {
  test.each([['a,b\n1,2\n', ','], ['a;b;c\n1,5;2;3\n', ';'], ['a\tb\n1,2\t3', '\t'], ['a|b\nx, y|z', '|'], ['only\nlines', ',']])('%j is parted by %j', (text, delimiter) => {
    expect(detectDelimiter(text)).toBe(delimiter);
  });

  test('quotes are honoured, also with delimiters, line ends and quotes inside', () => {
    expect(readCsv(utf8('name,note\r\n"Müller, Eva","said ""yes""\nand left"\r\n5" pipe,3\r\n"open,4'), options).pages[0]!.text).toBe(
      'name | note\nMüller, Eva | said "yes" and left\n5" pipe | 3\n"open | 4',
    );
  });

  test('each page after the first begins with the header row again', () => {
    const { pages } = readCsv(utf8(`id,city\n${Array.from({ length: 1_000 }, (_, at) => `${at},Town ${at}`).join('\n')}`), options);
    expect(pages.length).toBeGreaterThan(3);
    for (const page of pages) expect(page.text.startsWith('id | city\n')).toBe(true);
    expect(pages.flatMap((page) => page.text.match(/Town \d+/g) ?? [])).toHaveLength(1_000);
  });
});

describe.skipIf(!hasShared('corpus', 'reading the text files of the corpus'))('corpus', () => {
  const bytes = (name: string) => readFileSync(sharedPath(`corpus/${name}`));
  test('real files', () => {
    expect(readText(bytes('txt-cp866-russian.txt'), options).pages[0]!.text).toMatch(/^Однажды, в студеную зимнюю пору/);
    expect(readCsv(bytes('csv-semicolon.csv'), options).pages[0]!.text).toMatch(/^Index \| Customer Id \| First Name/);
    expect(readMarkdown(bytes('md-wiki.md'), options).pages[0]!.sections?.[0]).toEqual({ start: 0, title: 'IBM' });
  });
});
