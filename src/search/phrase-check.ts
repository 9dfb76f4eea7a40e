/**
 * Whether an excerpt has the quoted phrases: in its text with the heading above it, in the notes of its page, or in what its document is
 * called. Each by itself, since what ends one does not go on in the next. Texts are read, which costs more than looking at postings.
 */
import type { ExcerptPlace } from '../storage/sqlite/search-reader.ts';
import { kindAt, SPACED, UNSPACED } from './analysis/characters.ts';
import { foldForPhrase } from './analysis/fold.ts';
import type { ScoreInput } from './score.ts';

/** What is the same for all excerpts of a document: a long one has many to look into. */
interface DocumentLook {
  ref: number;
  layout: ExcerptPlace[];
  /** Phrases that it is not called by. */
  missing: readonly string[];
}

/** Asked of many slots of one search. */
export function createPhraseCheck({ table, reader }: ScoreInput, phrases: readonly string[]): (slot: number) => boolean {
  const looks = new Map<number, DocumentLook>();
  const lookAt = (document: number): DocumentLook => {
    const ref = table.refs[document]!;
    const { name, title } = reader.called(ref) ?? { name: '', title: null };
    const byName = missingFrom(name, phrases);
    const look = { ref, layout: reader.layout(ref), missing: title === null ? byName : missingFrom(title, byName) };
    looks.set(document, look);
    return look;
  };
  return (slot) => {
    const document = table.slotDocument[slot]!;
    const { ref, layout, missing } = looks.get(document) ?? lookAt(document);
    const at = slot - table.first[document]!;
    const place = layout[at];
    if (place === undefined) return false;
    if (missing.length === 0) return true;
    const row = reader.text(place.chunk);
    if (row === null) return false;
    const notInText = missingFrom(row.section === null ? row.text : `${row.section}\n${row.text}`, missing);
    // Notes are indexed with the first excerpt of their page.
    if (notInText.length === 0 || place.page === null || layout[at - 1]?.page === place.page) return notInText.length === 0;
    const notes = reader.notes(ref, place.page);
    return notes !== null && missingFrom(notes, notInText).length === 0;
  };
}

/** A hyphen at a line end, in any of its forms. */
const LINE_HYPHEN = /[-\u2010-\u2013\u2212](?=[\r\n])/g;
const LINE_END = /[\r\n]\s*/g;

/** The phrases that a text does not have. */
function missingFrom(text: string, phrases: readonly string[]): readonly string[] {
  const folded = foldForPhrase(text);
  const missing = phrases.filter((phrase) => !stands(folded, phrase));
  if (missing.length === 0) return missing;
  const flowing = flow(text);
  if (flowing === text) return missing;
  const otherwise = foldForPhrase(flowing);
  return missing.filter((phrase) => !stands(otherwise, phrase));
}

/** The other way to read line ends: a hyphen there broke a word (elec-tricity) or is the word's own (long-term); a line of Chinese ends anywhere. */
function flow(text: string): string {
  const apart = text.replace(LINE_HYPHEN, ' ');
  if (!NOT_ASCII.test(apart)) return apart;
  return apart.replace(LINE_END, (gap, at: number) => (kindAt(apart, at - 1) === UNSPACED && kindAt(apart, at + gap.length) === UNSPACED ? '' : gap));
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
