import { expect, test } from 'vitest';
import { countWords, HYPHEN_MARK, markHyphens, newWordCounts, resolveHyphens } from './hyphens.ts';

function resolve(text: string, elsewhere = ''): string {
  const counts = newWordCounts();
  const marked = markHyphens(text.replaceAll('|', HYPHEN_MARK));
  countWords(marked, counts);
  countWords(elsewhere, counts);
  return resolveHyphens(marked, counts);
}

const cases: [string, string, string, string?][] = [
  ['a soft hyphenation joins, and the line breaks behind the word', 'elit adip|iscing elit. Ut', 'elit adipiscing\nelit. Ut'],
  ['punctuation stays with its word', 'a con|sectetuer, sed', 'a consectetuer,\nsed'],
  ['the document writes it with a hyphen elsewhere', 'liquid fuel|fired plants', 'liquid fuel-fired\nplants', 'A fuel-fired plant.'],
  ['the document writes it joined elsewhere', 'the data|base is', 'the database\nis', 'One database. A data-driven base.'],
  ['the second part is hyphenated elsewhere', 'fuel|burning', 'fuel-burning', 'coal-burning and fuel'],
  ['"-fired" is never one half of a plain word', 'coal|fired', 'coal-fired', 'coal is'],
  ['both halves are words of their own', 'mother|board maker', 'mother-board\nmaker', 'a mother, a board'],
  ['digits keep it', 'COVID|19 and 10|year', 'COVID-19\nand 10-year'],
  ['a capital keeps it', 'Nord|Süd', 'Nord-Süd'],
  ['capitals throughout join', 'INTER|NATIONAL', 'INTERNATIONAL'],
  ['German compounds break between nouns and join', 'die Haus|tür ist', 'die Haustür\nist', 'Das Haus. Eine Tür.'],
  ['a hyphen that PDFium left alone joins as well', 'trans-\nport of', 'transport\nof'],
  ['a soft hyphen at the end joins', 'trans\u00ad\nport', 'transport'],
  ['a chain of hyphens goes on', 'a state-of-the|art pump, up-to|date', 'a state-of-the-art\npump, up-to-date'],
  ['the last word of a chain may be broken itself', 'a long-estab|lished rule', 'a long-established\nrule'],
  ['two in a row', 'con|sec|tetuer x', 'consectetuer\nx'],
  ['a dash between words is no hyphen', 'this -\nthat', 'this -\nthat'],
];
for (const [name, text, expected, elsewhere] of cases) {
  test(name, () => expect(resolve(text, elsewhere)).toBe(expected));
}
