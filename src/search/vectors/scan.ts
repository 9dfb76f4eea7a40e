/** The look through all signs in scope: which excerpts differ least from the question. */

/** Signs by slot, `width` words each; a slot has a vector when its bit in `present` is set. */
export interface SignTable {
  width: number;
  signs: Uint32Array;
  present: Uint32Array;
}

/**
 * The `keep` slots inside `mask` with the fewest differing signs, in order of slot. Among equals at the cut the lower slots
 * stay: the same call, the same answer. Slots outside the mask are not even looked at (trust.md P10).
 */
export function scanSigns(table: SignTable, query: Uint32Array, mask: Uint32Array, keep: number): number[] {
  const { width, signs, present } = table;
  const worst = width * 32;
  // Distances are small whole numbers: counting how many have each gives the cut without a heap.
  const counts = new Int32Array(worst + 1);
  let limit = worst;
  let kept = 0;
  let slots = new Int32Array(Math.max(1_024, keep * 8));
  let distances = new Int16Array(slots.length);
  let found = 0;
  const words = Math.min(mask.length, present.length);
  for (let word = 0; word < words; word++) {
    for (let left = mask[word]! & present[word]!; left !== 0; left &= left - 1) {
      const slot = word * 32 + (31 - Math.clz32(left & -left));
      const distance = distanceAt(signs, slot * width, query, width);
      if (distance > limit) continue;
      if (found === slots.length) {
        // What is over the cut by now is let go; if little is, the room doubles.
        found = compact(slots, distances, found, limit);
        if (found > slots.length / 2) {
          slots = grown(slots, Int32Array);
          distances = grown(distances, Int16Array);
        }
      }
      slots[found] = slot;
      distances[found++] = distance;
      counts[distance]!++;
      kept++;
      while (kept - counts[limit]! >= keep) kept -= counts[limit--]!;
    }
  }
  found = compact(slots, distances, found, limit);
  let over = Math.max(0, found - keep);
  const best: number[] = [];
  for (let i = found - 1; i >= 0; i--) {
    if (over > 0 && distances[i] === limit) over--;
    else best.push(slots[i]!);
  }
  return best.reverse();
}

function compact(slots: Int32Array, distances: Int16Array, found: number, limit: number): number {
  let to = 0;
  for (let i = 0; i < found; i++) {
    if (distances[i]! > limit) continue;
    slots[to] = slots[i]!;
    distances[to++] = distances[i]!;
  }
  return to;
}

function grown<T extends Int32Array | Int16Array>(from: T, kind: new (length: number) => T): T {
  const larger = new kind(from.length * 2);
  larger.set(from);
  return larger;
}

/**
 * How many signs differ. These lines run twelve million times for a million excerpts: three words are counted into fields of four
 * bits (three times four fit), nine into fields of eight, before they are folded into one number.
 */
function distanceAt(signs: Uint32Array, at: number, query: Uint32Array, width: number): number {
  let sum = 0;
  for (let from = 0; from < width; from += 9) {
    const end = Math.min(width, from + 9);
    let bytes = 0;
    let i = from;
    for (; i + 3 <= end; i += 3) {
      const fours = (foursOf(signs[at + i]! ^ query[i]!) + foursOf(signs[at + i + 1]! ^ query[i + 1]!) + foursOf(signs[at + i + 2]! ^ query[i + 2]!)) | 0;
      bytes += (fours & 0x0f0f0f0f) + ((fours >>> 4) & 0x0f0f0f0f);
    }
    for (; i < end; i++) {
      const fours = foursOf(signs[at + i]! ^ query[i]!);
      bytes += (fours & 0x0f0f0f0f) + ((fours >>> 4) & 0x0f0f0f0f);
    }
    sum += Math.imul((bytes & 0x00ff00ff) + ((bytes >>> 8) & 0x00ff00ff), 0x00010001) >>> 16;
  }
  return sum;
}

/** The set bits of each four of a word. */
function foursOf(word: number): number {
  const twos = (word - ((word >>> 1) & 0x55555555)) | 0;
  return (twos & 0x33333333) + ((twos >>> 2) & 0x33333333);
}
