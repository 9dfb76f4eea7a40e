/** The ranking dealt into answers (DESIGN.md section 5). */

/** What dealing needs to know of an excerpt. */
export interface Dealable {
  document: number;
}

export interface Dealt<T> {
  excerpts: T[];
  /** Where the next answer starts, or null when this one was the last. */
  nextOffset: number | null;
}

/**
 * The answer that starts at a place in the dealt sequence. Each answer takes the best that are left, at most half of `limit`
 * (rounded up) from one document; what the cap held back leads the next answer, so nothing is lost and nothing comes twice.
 *
 * An offset that is no answer's start gives the sequence from there on, up to where the cap would be broken. Walking by
 * `nextOffset` with one `limit` from anywhere sees every excerpt from that place on exactly once.
 */
export function dealExcerpts<T extends Dealable>(ranked: readonly T[], page: { limit: number; offset: number }): Dealt<T> {
  const { limit, offset } = page;
  const sequence = dealAll(ranked, limit);
  const counts = new Map<number, number>();
  const excerpts: T[] = [];
  for (const excerpt of sequence.slice(offset, offset + limit)) {
    const count = counts.get(excerpt.document) ?? 0;
    if (count === capOf(limit)) break;
    counts.set(excerpt.document, count + 1);
    excerpts.push(excerpt);
  }
  const next = offset + excerpts.length;
  return { excerpts, nextOffset: excerpts.length > 0 && next < sequence.length ? next : null };
}

/** At most this many excerpts of one document in an answer. */
export const capOf = (limit: number): number => Math.ceil(limit / 2);

/** For `explain`: the place of each ranked excerpt in the dealt sequence, and whether the cap held it back from an earlier answer. */
export function explainDealing<T extends Dealable>(ranked: readonly T[], limit: number): { place: number; heldBack: boolean }[] {
  const places = new Map<T, number>();
  const held = new Set<T>();
  dealAll(ranked, limit, (excerpt) => held.add(excerpt)).forEach((excerpt, place) => places.set(excerpt, place));
  return ranked.map((excerpt) => ({ place: places.get(excerpt)!, heldBack: held.has(excerpt) }));
}

/** The whole ranking in the order in which answers of `limit` deal it. `onHeld` is told of what the cap keeps from an answer. */
function dealAll<T extends Dealable>(ranked: readonly T[], limit: number, onHeld: (excerpt: T) => void = () => {}): T[] {
  const sequence: T[] = [];
  let left: readonly T[] = ranked;
  while (left.length > 0) {
    const counts = new Map<number, number>();
    const held: T[] = [];
    let taken = 0;
    for (const excerpt of left) {
      const count = counts.get(excerpt.document) ?? 0;
      if (taken < limit && count < capOf(limit)) {
        sequence.push(excerpt);
        counts.set(excerpt.document, count + 1);
        taken++;
      } else {
        held.push(excerpt);
        if (taken < limit) onHeld(excerpt);
      }
    }
    left = held;
  }
  return sequence;
}
