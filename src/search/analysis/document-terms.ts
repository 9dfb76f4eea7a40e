/** The terms of a document with their postings, made in one pass over its texts. */
import type { DocumentPostings } from '../types.ts';
import { UNSPACED } from './characters.ts';
import { normaliseText } from './fold.ts';
import { termsOfWord } from './terms.ts';
import { eachBrokenWord, eachSurface, emitSurface, type Token } from './tokens.ts';
import { openVocabulary, type Vocabulary } from './vocabulary.ts';

const MOST_IN_BODY = 63;
const MOST_IN_HEADING = 3;
/** Once in a heading, as codes count it. */
const HEADING = 64;

/** By number of a term: the document that had it last, and its place there. Documents are read one after another. */
let lastDocument = new Int32Array(65_536);
let lastPlace = new Int32Array(65_536);
let documents = 0;

/** Collects the terms of one document. Another one must not be begun before `postings` was asked for. */
export class DocumentTerms {
  private readonly language: string;
  private readonly vocabulary: Vocabulary;
  private readonly languageNumber: number;
  private readonly document = ++documents;
  private readonly terms: string[] = [];
  /** By place of a term: its last posting. */
  private last = new Int32Array(512);
  /** By posting, in the order they were met. */
  private placeOf = new Int32Array(1_024);
  private slotOf = new Int32Array(1_024);
  private codeOf = new Uint8Array(1_024);
  private met = 0;

  constructor(language: string) {
    this.language = language;
    this.vocabulary = openVocabulary();
    this.languageNumber = this.vocabulary.numberOfLanguage(language);
  }

  /** Adds a text of an excerpt; excerpts come in order. Answers the number of words. */
  add(slot: number, text: string, field: 'body' | 'heading'): number {
    const isHeading = field === 'heading';
    const normal = normaliseText(text);
    const { vocabulary } = this;
    let words = 0;
    const addToken = (token: Token): void => {
      if (!token.spelling) words++;
      const terms = token.kind === 'word' ? termsOfWord(token.text, this.language) : [token.text];
      for (const term of terms) this.post(vocabulary.numberOf(term), slot, isHeading);
    };
    eachSurface(normal, (start, end, kind) => {
      // Runs of a script without spaces are as good as never the same.
      if (kind === UNSPACED) return emitSurface(normal.slice(start, end), addToken);
      const reading = vocabulary.read(normal, start, end, this.language, this.languageNumber);
      words += reading.words;
      if (reading.term >= 0) this.post(reading.term, slot, isHeading);
      else for (const term of reading.terms) this.post(term, slot, isHeading);
    });
    eachBrokenWord(normal, addToken);
    return words;
  }

  /** All that was added, by term. */
  postings(): DocumentPostings {
    const { terms, met, placeOf, slotOf, codeOf } = this;
    const starts = new Int32Array(terms.length + 1);
    for (let i = 0; i < met; i++) starts[placeOf[i]! + 1]!++;
    for (let place = 0; place < terms.length; place++) starts[place + 1]! += starts[place]!;
    const [slots, codes, ends] = [new Int32Array(met), new Uint8Array(met), starts.slice()];
    for (let i = 0; i < met; i++) {
      const at = ends[placeOf[i]!]!++;
      slots[at] = slotOf[i]!;
      codes[at] = codeOf[i]!;
    }
    return { terms, starts, slots, codes };
  }

  private post(term: number, slot: number, isHeading: boolean): void {
    if (term >= lastDocument.length) growTo(term);
    const place = lastDocument[term] === this.document ? lastPlace[term]! : this.meet(term);
    const last = this.last[place]!;
    if (last < 0 || this.slotOf[last] !== slot) {
      const at = this.met++;
      if (at === this.slotOf.length) this.grow();
      this.last[place] = at;
      this.placeOf[at] = place;
      this.slotOf[at] = slot;
      this.codeOf[at] = isHeading ? HEADING : 1;
      return;
    }
    const code = this.codeOf[last]!;
    if (isHeading) {
      if (code >> 6 < MOST_IN_HEADING) this.codeOf[last] = code + HEADING;
    } else if ((code & 63) < MOST_IN_BODY) this.codeOf[last] = code + 1;
  }

  private meet(term: number): number {
    const place = this.terms.length;
    lastDocument[term] = this.document;
    lastPlace[term] = place;
    this.terms.push(this.vocabulary.terms[term]!);
    if (place === this.last.length) this.last = doubled(this.last, Int32Array);
    this.last[place] = -1;
    return place;
  }

  private grow(): void {
    this.placeOf = doubled(this.placeOf, Int32Array);
    this.slotOf = doubled(this.slotOf, Int32Array);
    this.codeOf = doubled(this.codeOf, Uint8Array);
  }
}

function growTo(term: number): void {
  while (term >= lastDocument.length) {
    lastDocument = doubled(lastDocument, Int32Array);
    lastPlace = doubled(lastPlace, Int32Array);
  }
}

function doubled<T extends Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>>(from: T, kind: new (length: number) => T): T {
  const larger = new kind(from.length * 2);
  larger.set(from);
  return larger;
}
