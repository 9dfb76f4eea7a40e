/**
 * Where the pages of a PDF copy begin in the text of the file it was made from (processing.md section 4): both texts are
 * reduced to letters and digits, runs of 24 that occur once in the copy are anchors, the longest increasing run of anchors
 * is kept, and a page begins where its place between two anchors falls.
 */

/** Shorter runs are tried where the longer ones find nothing (short pages, many formulas). */
const gramLengths = [24, 12, 6];

interface Reduced {
  text: string;
  /** UTF-16 offset in the original just behind each reduced character, marks that follow it included. */
  ends: Uint32Array;
}

/** `pageStarts[i]`: UTF-16 offset in `flowText` at which page i + 1 of the copy begins; never decreasing, the first is 0. */
export function alignToCopy(flowText: string, copyPages: string[]): number[] {
  const flow = reduce(flowText);
  const reducedPages = copyPages.map((page) => reduce(page).text);
  const copy = reducedPages.join('');
  const starts: number[] = [];
  let at = 0;
  for (const page of reducedPages) {
    starts.push(at);
    at += page.length;
  }
  const anchors = findAnchors(flow.text, copy);
  let lowest = 0;
  return starts.map((place, index) => {
    if (index === 0) return 0;
    const reducedAt = interpolate(anchors, place, copy.length, flow.text.length);
    // Behind the last letter of the page before: the bullet or bracket that opens the page belongs to the page.
    const offset = reducedAt <= 0 ? 0 : (flow.ends[Math.min(reducedAt, flow.ends.length) - 1] ?? 0);
    lowest = Math.max(lowest, offset);
    return lowest;
  });
}

/** 1-based page of an offset: the last page that begins at or before it. */
export function pageAt(pageStarts: number[], offset: number): number {
  let low = 0;
  let high = pageStarts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pageStarts[middle]! <= offset) low = middle + 1;
    else high = middle;
  }
  return Math.max(1, low);
}

interface Anchor {
  flow: number;
  copy: number;
}

function findAnchors(flow: string, copy: string): Anchor[] {
  for (const length of gramLengths) {
    const anchors = longestIncreasing(matchGrams(flow, copy, length));
    if (anchors.length > 0) return withEdges(anchors, length);
  }
  return [];
}

/** Places in the flow whose gram occurs exactly once in the copy, in flow order. */
function matchGrams(flow: string, copy: string, length: number): Anchor[] {
  const placeOf = new Map<number, number>();
  eachGram(copy, length, (hash, at) => {
    const before = placeOf.get(hash);
    placeOf.set(hash, before === undefined ? at : -1);
  });
  const anchors: Anchor[] = [];
  eachGram(flow, length, (hash, at) => {
    const place = placeOf.get(hash);
    if (place === undefined || place < 0) return;
    // A hash is no proof.
    if (flow.slice(at, at + length) === copy.slice(place, place + length)) anchors.push({ flow: at, copy: place });
  });
  return anchors;
}

const base = 16_777_619;

/** Rolling hash (32 bits, multiplied as integers) of each run of `length` characters. */
function eachGram(text: string, length: number, visit: (hash: number, at: number) => void): void {
  if (text.length < length) return;
  let top = 1;
  for (let step = 1; step < length; step++) top = Math.imul(top, base);
  let hash = 0;
  for (let at = 0; at < text.length; at++) {
    if (at >= length) hash = (hash - Math.imul(text.charCodeAt(at - length), top)) | 0;
    hash = (Math.imul(hash, base) + text.charCodeAt(at)) | 0;
    if (at >= length - 1) visit(hash, at - length + 1);
  }
}

/** Longest run of anchors (in flow order) whose places in the copy increase: what stands elsewhere (footnotes) falls out. */
function longestIncreasing(anchors: Anchor[]): Anchor[] {
  const tails: number[] = [];
  const previous = new Int32Array(anchors.length).fill(-1);
  for (let at = 0; at < anchors.length; at++) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (anchors[tails[middle]!]!.copy < anchors[at]!.copy) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[at] = tails[low - 1]!;
    tails[low] = at;
  }
  const run: Anchor[] = [];
  for (let at = tails[tails.length - 1] ?? -1; at >= 0; at = previous[at]!) run.push(anchors[at]!);
  return run.reverse();
}

/** The last character of each unbroken stretch is an anchor too, so that a page that begins behind it begins right there. */
function withEdges(anchors: Anchor[], length: number): Anchor[] {
  const all: Anchor[] = [];
  anchors.forEach((anchor, at) => {
    all.push(anchor);
    const next = anchors[at + 1];
    const goesOn = next !== undefined && next.flow - anchor.flow === next.copy - anchor.copy && next.copy - anchor.copy <= length;
    const end = { flow: anchor.flow + length, copy: anchor.copy + length };
    if (!goesOn && (next === undefined || (end.flow <= next.flow && end.copy <= next.copy))) all.push(end);
  });
  return all;
}

function interpolate(anchors: Anchor[], place: number, copyLength: number, flowLength: number): number {
  let low = 0;
  let high = anchors.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (anchors[middle]!.copy <= place) low = middle + 1;
    else high = middle;
  }
  const before = anchors[low - 1] ?? { flow: 0, copy: 0 };
  const after = anchors[low] ?? { flow: flowLength, copy: Math.max(copyLength, before.copy) };
  if (after.copy <= before.copy) return before.flow;
  return Math.round(before.flow + ((place - before.copy) / (after.copy - before.copy)) * (after.flow - before.flow));
}

const reducedForms = new Map<string, string>();

/** Ligatures, full-width forms and accents are written differently by different programs: only their letters are compared. */
function reducedForm(character: string): string {
  const known = reducedForms.get(character);
  if (known !== undefined) return known;
  const form = character.normalize('NFKD').toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  if (reducedForms.size > 50_000) reducedForms.clear();
  reducedForms.set(character, form);
  return form;
}

const isMark = (character: string): boolean => reducedForm(character) === '' && /\p{M}/u.test(character);

function reduce(text: string): Reduced {
  const ends = new Uint32Array(text.length * 2);
  const kept: string[] = [];
  let count = 0;
  const keep = (character: string, end: number) => {
    if (count >= ends.length) return;
    kept.push(character);
    ends[count++] = end;
  };
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 128) {
      if (code >= 97 && code <= 122) keep(text[at]!, at + 1);
      else if (code >= 65 && code <= 90) keep(String.fromCharCode(code + 32), at + 1);
      else if (code >= 48 && code <= 57) keep(text[at]!, at + 1);
      continue;
    }
    const point = text.codePointAt(at)!;
    const character = String.fromCodePoint(point);
    const end = at + character.length;
    if (isMark(character)) {
      // A mark is not compared, but never parted from its letter.
      if (count > 0 && ends[count - 1] === at) ends[count - 1] = end;
    } else {
      for (const unit of reducedForm(character).split('')) keep(unit, end);
    }
    at = end - 1;
  }
  return { text: kept.join(''), ends: ends.slice(0, count) };
}
