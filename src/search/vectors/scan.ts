/** The look through all signs in scope: which excerpts differ least from the question. */

import { signsOf } from './quantise.ts';
import { BLOCK, type SignMemory } from './sign-memory.ts';

/**
 * The `keep` slots inside `mask` with the fewest signs that differ from the question's, in order of slot. Among equals at the cut
 * the lower slots stay: the same call, the same answer. Of slots outside the mask nothing is looked at but their signs, and those
 * only where they lie between others (trust.md P10).
 */
export function scanSigns(memory: SignMemory, question: Float32Array, mask: Uint32Array, keep: number): number[] {
  const { present } = memory;
  memory.ask(signsOf(question), question);
  const nearest = new Nearest(memory.size * 8, keep);
  const add = (slot: number, distance: number): void => {
    if (distance <= nearest.limit && ((mask[slot >> 5]! & present[slot >> 5]!) >>> (slot & 31)) & 1) nearest.add(slot, distance);
  };
  const words = Math.min(mask.length, present.length);
  for (let word = 0; word < words; ) {
    if ((mask[word]! & present[word]!) === 0) {
      word++;
      continue;
    }
    let end = word + 1;
    while (end < words && end - word < BLOCK / 32 && (mask[end]! & present[end]!) !== 0) end++;
    // From the first to the last in scope: folders lie in pieces of a few excerpts.
    const [head, tail] = [mask[word]! & present[word]!, mask[end - 1]! & present[end - 1]!];
    const first = word * 32 + (31 - Math.clz32(head & -head));
    const last = end * 32 - 1 - Math.clz32(tail);
    memory.eachNear(first, last - first + 1, nearest.limit, add);
    word = end;
  }
  return nearest.slots();
}

/** Collects slots with their distances, in order of slot, and forgets what is certainly too far. */
class Nearest {
  /** What is farther than this is not among the nearest. */
  limit: number;
  private readonly keep: number;
  /** Distances are small whole numbers: counting how many have each gives the limit without a heap. */
  private readonly counts: Int32Array;
  private kept = 0;
  private found = 0;
  private room: { slots: Int32Array; distances: Uint16Array };

  constructor(worst: number, keep: number) {
    this.limit = worst;
    this.keep = keep;
    this.counts = new Int32Array(worst + 1);
    this.room = roomFor(Math.max(1_024, keep * 8));
  }

  add(slot: number, distance: number): void {
    if (this.found === this.room.slots.length) {
      // What is over the limit by now is let go; if little is, the room doubles.
      this.compact();
      if (this.found > this.room.slots.length / 2) {
        const { slots, distances } = this.room;
        this.room = roomFor(slots.length * 2);
        this.room.slots.set(slots);
        this.room.distances.set(distances);
      }
    }
    this.room.slots[this.found] = slot;
    this.room.distances[this.found++] = distance;
    this.counts[distance]!++;
    this.kept++;
    while (this.kept - this.counts[this.limit]! >= this.keep) this.kept -= this.counts[this.limit--]!;
  }

  slots(): number[] {
    this.compact();
    const { slots, distances } = this.room;
    let over = Math.max(0, this.found - this.keep);
    const best: number[] = [];
    for (let i = this.found - 1; i >= 0; i--) {
      if (over > 0 && distances[i] === this.limit) over--;
      else best.push(slots[i]!);
    }
    return best.reverse();
  }

  private compact(): void {
    const { slots, distances } = this.room;
    let to = 0;
    for (let i = 0; i < this.found; i++) {
      if (distances[i]! > this.limit) continue;
      slots[to] = slots[i]!;
      distances[to++] = distances[i]!;
    }
    this.found = to;
  }
}

const roomFor = (length: number): { slots: Int32Array; distances: Uint16Array } => ({ slots: new Int32Array(length), distances: new Uint16Array(length) });
