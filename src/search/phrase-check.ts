/** Whether an excerpt has the quoted phrases: its text is read, which costs more than looking at postings. */
import type { ExcerptPlace } from '../storage/sqlite/search-reader.ts';
import { kindAt, SPACED } from './analysis/characters.ts';
import { foldForPhrase } from './analysis/fold.ts';
import type { ScoreInput } from './score.ts';

/** Asked of many slots of one search: a long document has many excerpts to look into, and one layout. */
export function createPhraseCheck({ table, reader }: ScoreInput, phrases: readonly string[]): (slot: number) => boolean {
  const layouts = new Map<number, ExcerptPlace[]>();
  return (slot) => {
    const document = table.slotDocument[slot]!;
    let layout = layouts.get(document);
    if (layout === undefined) layouts.set(document, (layout = reader.layout(table.refs[document]!)));
    const place = layout[slot - table.first[document]!];
    const row = place === undefined ? null : reader.text(place.chunk);
    if (row === null) return false;
    return missingFrom(row.section === null ? row.text : `${row.section}\n${row.text}`, phrases).length === 0;
  };
}

/** A hyphen at a line end, in any of its forms. */
const LINE_HYPHEN = /[-\u2010-\u2013\u2212](?=[\r\n])/g;

/** The phrases that a text does not have. */
export function missingFrom(text: string, phrases: readonly string[]): readonly string[] {
  const folded = foldForPhrase(text);
  const missing = phrases.filter((phrase) => !stands(folded, phrase));
  // Such a hyphen broke a word (elec-tricity), or is the word's own (long-term).
  const apart = missing.length === 0 ? text : text.replace(LINE_HYPHEN, ' ');
  if (apart === text) return missing;
  const unbroken = foldForPhrase(apart);
  return missing.filter((phrase) => !stands(unbroken, phrase));
}

const NOT_ASCII = /[^\x00-\x7f]/;

function stands(folded: string, phrase: string): boolean {
  if (folded.includes(phrase)) return true;
  if (!NOT_ASCII.test(folded)) return false;
  const bare = phrase.trim();
  for (let at = folded.indexOf(bare); at >= 0; at = folded.indexOf(bare, at + 1)) {
    if (isEdge(folded, at) && isEdge(folded, at + bare.length)) return true;
  }
  return false;
}

/** Between two letters of scripts that write spaces is the middle of a word; beside others a word may begin anywhere (新型5G網). */
function isEdge(text: string, at: number): boolean {
  const isSecondHalf = (text.charCodeAt(at - 1) & 0xfc00) === 0xdc00;
  return kindAt(text, at - (isSecondHalf ? 2 : 1)) !== SPACED || kindAt(text, at) !== SPACED;
}
