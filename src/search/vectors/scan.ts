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
 * How many signs differ. These lines run twelve million times for a million excerpts, so twelve words are added up bit by bit
 * (carry-save: three words of a weight become one of it and one of twice it) until five are left to be counted.
 */
function distanceAt(signs: Uint32Array, at: number, query: Uint32Array, width: number): number {
  let sum = 0;
  let i = 0;
  for (; i + 12 <= width; i += 12) sum += distanceOf12(signs, at + i, query, i);
  for (; i < width; i++) sum += Math.imul(bytesOf(foursOf(signs[at + i]! ^ query[i]!)), 0x01010101) >>> 24;
  return sum;
}

function distanceOf12(signs: Uint32Array, s: number, query: Uint32Array, i: number): number {
  const a = signs[s]! ^ query[i]!, b = signs[s + 1]! ^ query[i + 1]!, c = signs[s + 2]! ^ query[i + 2]!;
  const d = signs[s + 3]! ^ query[i + 3]!, e = signs[s + 4]! ^ query[i + 4]!, f = signs[s + 5]! ^ query[i + 5]!;
  const g = signs[s + 6]! ^ query[i + 6]!, h = signs[s + 7]! ^ query[i + 7]!, j = signs[s + 8]! ^ query[i + 8]!;
  const k = signs[s + 9]! ^ query[i + 9]!, l = signs[s + 10]! ^ query[i + 10]!, m = signs[s + 11]! ^ query[i + 11]!;
  const one1 = a ^ b ^ c, one2 = d ^ e ^ f, one3 = g ^ h ^ j, one4 = k ^ l ^ m;
  const two1 = carry(a, b, c), two2 = carry(d, e, f), two3 = carry(g, h, j), two4 = carry(k, l, m), two5 = carry(one1, one2, one3);
  const two6 = two1 ^ two2 ^ two3;
  const ones = foursOf(one1 ^ one2 ^ one3) + foursOf(one4);
  const twos = foursOf(two6 ^ two4 ^ two5);
  const fours = foursOf(carry(two1, two2, two3)) + foursOf(carry(two6, two4, two5));
  const bytes = bytesOf(ones) + 2 * bytesOf(twos) + 4 * bytesOf(fours);
  return Math.imul((bytes & 0x00ff00ff) + ((bytes >>> 8) & 0x00ff00ff), 0x00010001) >>> 16;
}

/** Bits that at least two of three words have. */
const carry = (a: number, b: number, c: number): number => (a & b) | ((a ^ b) & c);

/** The set bits of each four of a word. */
function foursOf(word: number): number {
  const twos = (word - ((word >>> 1) & 0x55555555)) | 0;
  return (twos & 0x33333333) + ((twos >>> 2) & 0x33333333);
}

/** Numbers of four bits added two by two. */
const bytesOf = (fours: number): number => (fours & 0x0f0f0f0f) + ((fours >>> 4) & 0x0f0f0f0f);
