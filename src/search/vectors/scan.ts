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

function distanceAt(signs: Uint32Array, at: number, query: Uint32Array, width: number): number {
  let sum = 0;
  for (let i = 0; i < width; i++) {
    // This line runs twelve million times for a million excerpts.
    let v = (signs[at + i]! ^ query[i]!) | 0;
    v = v - ((v >>> 1) & 0x55555555);
    v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
    sum += Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return sum;
}
