/** Pages cut into excerpts: a page when it is short, else pieces at sentence or block ends (search.md section 2). */
import { cutMarkPiles } from './analysis/fold.ts';
import type { ReadPage } from '../formats/types.ts';
import type { IndexedChunk } from './types.ts';

export interface ChunkOptions {
  /** True for flowing text (docx, txt, …): the heading above reaches over page ends. */
  pagesEstimated: boolean;
  /** Characters up to which a page stays one excerpt. */
  wholePage?: number;
  /** About how long pieces are, characters. */
  piece?: number;
}

const WHOLE_PAGE = 2_400;
const PIECE = 1_500;

/**
 * Excerpts of a document in order; `position` counts through the document. A page without text has none, but for its notes: a slide
 * that is all picture is still found by what its speaker says, and the notes are then what is shown.
 */
export function chunkPages(pages: readonly ReadPage[], options: ChunkOptions): IndexedChunk[] {
  const chunks: IndexedChunk[] = [];
  let above: string | null = null;
  for (const page of pages) {
    if (!options.pagesEstimated) above = null;
    const sections = (page.sections ?? []).filter((section) => cleanExcerpt(section.title) !== '');
    let extra = page.notes;
    for (const [start, end] of cutPage(page.text, sections, options)) {
      const text = cleanExcerpt(page.text.slice(start, end));
      const lead = page.text.slice(start, end).search(/\S/);
      const heading = sections.findLast((section) => section.start <= start + Math.max(0, lead));
      if (heading !== undefined) above = headingOf(heading);
      if (text === '') continue;
      chunks.push({ position: chunks.length, page: page.number, section: above, text, ...(extra ? { extra } : {}) });
      extra = undefined;
    }
    if (extra) {
      for (const [start, end] of cutPage(extra, [], options)) {
        const text = cleanExcerpt(extra.slice(start, end));
        if (text !== '') chunks.push({ position: chunks.length, page: page.number, section: above, text });
      }
    }
    const last = sections.at(-1);
    if (last !== undefined) above = headingOf(last);
  }
  return chunks;
}

const MAX_HEADING = 300;

function headingOf({ title }: { title: string }): string {
  const heading = cleanExcerpt(title);
  return heading.length <= MAX_HEADING ? heading : heading.slice(0, graphemeStart(heading, MAX_HEADING, 0)).trimEnd();
}

/**
 * An excerpt as it is shown: without control, bidi and tag characters and other invisible ones (joiners that Persian and
 * emoji need stay), without piles of marks, blank ends cut. Never holds lone surrogates.
 */
export function cleanExcerpt(text: string): string {
  const plain = text.replace(/\r\n?/g, '\n').replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, '');
  if (!/[^\x00-\x7f]/.test(plain)) return plain.trim();
  const shown = plain
    .toWellFormed()
    .replace(/[\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]/gu, (character) =>
      character === '\u2028' || character === '\u2029' ? '\n' : '',
    );
  return cutMarkPiles(shown).trim();
}

function cutPage(text: string, sections: readonly { start: number }[], options: ChunkOptions): [number, number][] {
  const piece = options.piece ?? PIECE;
  if (text.length <= (options.wholePage ?? WHOLE_PAGE)) return [[0, text.length]];
  const pieces: [number, number][] = [];
  let start = 0;
  while (start < text.length) {
    const left = text.length - start;
    if (left <= piece * 1.3) {
      pieces.push([start, text.length]);
      break;
    }
    // Pieces of even length, so that no page ends in a scrap.
    const target = left / Math.ceil(left / piece);
    const end = findCut(text, start, target, sections);
    pieces.push([start, end]);
    start = end;
  }
  return pieces;
}

/** Kinds of places to cut, best first: an empty line, a sentence at a line end, a sentence, a line, a space. */
const CUTS: readonly RegExp[] = [/\n[ \t]*\n\s*/g, /[.!?…:;]["'»”)\]]*\n\s*/g, /(?:[.!?…]["'»”)\]]*\s+|[。！？｡]["」』）]*\s*)/g, /\n\s*/g, /\s+/g];

function findCut(text: string, start: number, target: number, sections: readonly { start: number }[]): number {
  const [from, to] = [start + Math.floor(target * 0.6), Math.min(text.length, start + Math.ceil(target * 1.25))];
  const aim = start + target;
  const heading = sections.find((section) => section.start > from && section.start <= to);
  if (heading !== undefined && graphemeStart(text, heading.start, start) === heading.start) return heading.start;
  const window = text.slice(from, to);
  for (const pattern of CUTS) {
    const places = Array.from(window.matchAll(pattern), (match) => from + match.index + match[0].length).filter((at) => at < to);
    // A mark may stand behind a space or a full stop and belong to it.
    const best = places.toSorted((a, b) => Math.abs(a - aim) - Math.abs(b - aim)).find((at) => graphemeStart(text, at, start) === at);
    if (best !== undefined) return best;
  }
  return graphemeStart(text, Math.floor(aim), start);
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The last grapheme boundary at or before an offset, counted from `start`, which is one. A grapheme without end is cut between code points. */
function graphemeStart(text: string, offset: number, start: number): number {
  if (offset >= text.length) return text.length;
  // From one boundary to the next: flags in a row are pairs, and a look from the middle would pair them wrongly.
  const boundary = start + (graphemes.segment(text.slice(start, offset + 200)).containing(offset - start)?.index ?? 0);
  if (boundary > start || offset === start) return boundary;
  const low = text.charCodeAt(offset);
  return low >= 0xdc00 && low <= 0xdfff ? offset - 1 : offset;
}
