/** The terms of a document with their postings, made in one pass over its texts. */
import type { DocumentPostings } from '../types.ts';
import { UNSPACED } from './characters.ts';
import { normaliseText } from './fold.ts';
import { numberOf, readingOf } from './readings.ts';
import { termsOfWord } from './terms.ts';
import { eachBrokenWord, eachSurface, emitSurface, type Token } from './tokens.ts';

const MOST_IN_BODY = 63;
const MOST_IN_HEADING = 3;
/** Once in a heading, as codes count it. */
const HEADING = 64;

let documents = 0;

export class DocumentTerms {
  private readonly language: string;
  private readonly languageNumber: number;
  private readonly number = ++documents;
  private readonly terms = new Map<string, number>();
  /** By term: its last posting. */
  private last = new Int32Array(512);
  /** By posting, in the order they were met. */
  private termOf = new Int32Array(1_024);
  private slotOf = new Int32Array(1_024);
  private codeOf = new Uint8Array(1_024);
  private met = 0;

  constructor(language: string) {
    this.language = language;
    this.languageNumber = numberOf(language);
  }

  /** Adds a text of an excerpt; excerpts come in order. Answers the number of words. */
  add(slot: number, text: string, field: 'body' | 'heading'): number {
    const isHeading = field === 'heading';
    const normal = normaliseText(text);
    let words = 0;
    const addToken = (token: Token): void => {
      if (!token.spelling) words++;
      const terms = token.kind === 'word' ? termsOfWord(token.text, this.language) : [token.text];
      for (const term of terms) this.post(this.find(term), slot, isHeading);
    };
    eachSurface(normal, (start, end, kind) => {
      // Runs of a script without spaces are as good as never the same.
      if (kind === UNSPACED) return emitSurface(normal.slice(start, end), addToken);
      const reading = readingOf(normal, start, end, this.language, this.languageNumber);
      words += reading.words;
      if (reading.terms.length === 1) {
        if (reading.document !== this.number) {
          reading.at = this.find(reading.terms[0]!);
          reading.document = this.number;
        }
        this.post(reading.at, slot, isHeading);
      } else for (const term of reading.terms) this.post(this.find(term), slot, isHeading);
    });
    eachBrokenWord(normal, addToken);
    return words;
  }

  /** All that was added, by term. */
  postings(): DocumentPostings {
    const { terms, met, termOf, slotOf, codeOf } = this;
    const starts = new Int32Array(terms.size + 1);
    for (let i = 0; i < met; i++) starts[termOf[i]! + 1]!++;
    for (let place = 0; place < terms.size; place++) starts[place + 1]! += starts[place]!;
    const [slots, codes, ends] = [new Int32Array(met), new Uint8Array(met), starts.slice()];
    for (let i = 0; i < met; i++) {
      const at = ends[termOf[i]!]!++;
      slots[at] = slotOf[i]!;
      codes[at] = codeOf[i]!;
    }
    return { terms, starts, slots, codes };
  }

  private find(term: string): number {
    let place = this.terms.get(term);
    if (place === undefined) {
      place = this.terms.size;
      this.terms.set(term, place);
      if (place === this.last.length) this.last = grown(this.last, Int32Array);
      this.last[place] = -1;
    }
    return place;
  }

  private post(place: number, slot: number, isHeading: boolean): void {
    const last = this.last[place]!;
    if (last < 0 || this.slotOf[last] !== slot) {
      const at = this.met++;
      if (at === this.slotOf.length) {
        this.termOf = grown(this.termOf, Int32Array);
        this.slotOf = grown(this.slotOf, Int32Array);
        this.codeOf = grown(this.codeOf, Uint8Array);
      }
      this.last[place] = at;
      this.termOf[at] = place;
      this.slotOf[at] = slot;
      this.codeOf[at] = isHeading ? HEADING : 1;
      return;
    }
    const code = this.codeOf[last]!;
    if (isHeading) {
      if (code >> 6 < MOST_IN_HEADING) this.codeOf[last] = code + HEADING;
    } else if ((code & 63) < MOST_IN_BODY) this.codeOf[last] = code + 1;
  }
}

function grown<T extends Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>>(from: T, kind: new (length: number) => T): T {
  const larger = new kind(from.length * 2);
  larger.set(from);
  return larger;
}
