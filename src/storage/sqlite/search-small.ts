/** A small segment as a searching thread holds it: its blob, and where in it each term lies. */
import { readSegment, someSlot } from './search-postings.ts';

export interface SmallTerms {
  has(term: string): boolean;
  get(term: string): { count: number; slots: Uint8Array; codes: Uint8Array } | null;
  /** Terms that start so and have a slot that passes; `base` is the segment's first. */
  startingWith(prefix: string, base: number, test: (slot: number) => boolean): string[];
}

/** Opens a segment's blob; one that is gone has no terms. */
export function openSmall(data: Buffer | null | undefined): SmallTerms {
  const places = new Map<string, number>();
  const found: number[] = [];
  if (data) {
    readSegment(data, (term, count, slotsAt, slotBytes, codeBytes) => {
      places.set(term, found.length);
      found.push(count, slotsAt, slotBytes, codeBytes);
    });
  }
  return {
    has: (term) => places.has(term),
    get: (term) => {
      const place = places.get(term);
      if (place === undefined) return null;
      const slotsAt = found[place + 1]!;
      const codesAt = slotsAt + found[place + 2]!;
      return { count: found[place]!, slots: data!.subarray(slotsAt, codesAt), codes: data!.subarray(codesAt, codesAt + found[place + 3]!) };
    },
    startingWith: (prefix, base, test) => {
      const starting: string[] = [];
      for (const [term, place] of places) {
        if (term.startsWith(prefix) && someSlot(data!, found[place + 1]!, found[place]!, base, test)) starting.push(term);
      }
      return starting;
    },
  };
}
