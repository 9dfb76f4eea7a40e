/** The look through all signs in scope: which excerpts differ least from the question. */
import { countBits } from '../slot-table.ts';
import { BLOCK, MOST_RUNS, type SignMemory } from './sign-memory.ts';

/** Where the vectors of a scope lie: made once for a mask while no vector is added. */
export interface ScanPlan {
  mask: Uint32Array;
  /** Vectors inside the mask. */
  inside: number;
  /** Two numbers each: the first slot and the one behind the last. */
  runs: Int32Array;
  /** Places in `runs` where a block of at most BLOCK slots in at most MOST_RUNS runs ends. */
  blocks: Int32Array;
}

/** Folders lie in pieces of a few excerpts: what lies between two that are this near is looked at as well, and left out when found. */
const SMALL_GAP = 4;

/** Of slots outside the mask nothing is looked at but their signs, and those only where they lie between others (trust.md P10). */
export function planScan(memory: SignMemory, mask: Uint32Array): ScanPlan {
  const { present } = memory;
  const runs: number[] = [];
  const blocks: number[] = [];
  let [inside, slots, first, end] = [0, 0, -1, -1];
  const close = (): void => {
    for (let from = first; from < end; ) {
      const to = Math.min(end, from + BLOCK - slots);
      runs.push(from, to);
      slots += to - from;
      from = to;
      if (slots < BLOCK && runs.length - (blocks.at(-1) ?? 0) < MOST_RUNS * 2) continue;
      blocks.push(runs.length);
      slots = 0;
    }
  };
  for (let word = 0; word < Math.min(mask.length, present.length); word++) {
    let bits = mask[word]! & present[word]!;
    inside += countBits(bits);
    while (bits !== 0) {
      const low = 31 - Math.clz32(bits & -bits);
      const ones = lowOnes(bits >>> low);
      const slot = word * 32 + low;
      if (slot - end > SMALL_GAP || first < 0) {
        close();
        first = slot;
      }
      end = slot + ones;
      bits = low + ones >= 32 ? 0 : bits & (-1 << (low + ones));
    }
  }
  close();
  if (runs.length > (blocks.at(-1) ?? 0)) blocks.push(runs.length);
  return { mask, inside, runs: Int32Array.from(runs), blocks: Int32Array.from(blocks) };
}

/** How many of the lowest bits are set. */
const lowOnes = (bits: number): number => (~bits === 0 ? 32 : 31 - Math.clz32(~bits & -~bits));

export interface Asked {
  vector: Float32Array;
  /** How many of the nearest are wanted. */
  keep: number;
}

/**
 * For each question the `keep` slots inside the mask with the fewest signs that differ from its own, in order of slot. Among equals at
 * the cut the lower slots stay: the same call, the same answer, whatever is asked beside it. Four take little more than one: each vector is
 * read once, and reading takes longer than comparing. At most `memory.together`.
 */
export function scanSigns(memory: SignMemory, asked: readonly Asked[], plan: ScanPlan): Int32Array[] {
  const { mask, runs, blocks } = plan;
  const { present } = memory;
  memory.ask(asked.map(({ vector }) => vector));
  const all = asked.map(({ keep }, i) => new Nearest(memory.size * 8, keep, memory.rooms[i]!));
  let from = 0;
  for (const end of blocks) {
    const found = memory.near(runs, from, end, all);
    for (let i = 0; i < found; i++) {
      const slot = memory.foundSlot(i);
      const distance = memory.foundDistance(i);
      const nearest = all[memory.foundBy(i)]!;
      if (distance <= nearest.limit && ((mask[slot >> 5]! & present[slot >> 5]!) >>> (slot & 31)) & 1) nearest.add(slot, distance);
    }
    from = end;
  }
  return all.map((nearest) => nearest.slots());
}

/** What one look of a thread after the other is collected in. */
export interface ScanRoom {
  slots: Int32Array;
  distances: Uint16Array;
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
  private readonly room: ScanRoom;

  constructor(worst: number, keep: number, room: ScanRoom) {
    this.limit = worst;
    this.keep = keep;
    this.counts = new Int32Array(worst + 1);
    this.room = room;
    if (room.slots.length < keep * 8) makeRoom(room, keep * 8);
  }

  add(slot: number, distance: number): void {
    if (this.found === this.room.slots.length) {
      // What is over the limit by now is let go; if little is, the room doubles.
      this.compact();
      if (this.found > this.room.slots.length / 2) makeRoom(this.room, this.room.slots.length * 2);
    }
    this.room.slots[this.found] = slot;
    this.room.distances[this.found++] = distance;
    this.counts[distance]!++;
    this.kept++;
    while (this.kept - this.counts[this.limit]! >= this.keep) this.kept -= this.counts[this.limit--]!;
  }

  slots(): Int32Array {
    this.compact();
    const { slots, distances } = this.room;
    let over = Math.max(0, this.found - this.keep);
    const best = new Int32Array(this.found - over);
    let to = best.length;
    for (let i = this.found - 1; i >= 0; i--) {
      if (over > 0 && distances[i] === this.limit) over--;
      else best[--to] = slots[i]!;
    }
    return best;
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

function makeRoom(room: ScanRoom, length: number): void {
  const { slots, distances } = room;
  room.slots = new Int32Array(length);
  room.slots.set(slots);
  room.distances = new Uint16Array(length);
  room.distances.set(distances);
}
