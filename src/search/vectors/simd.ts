/**
 * Three loops over vectors in 64 and 128-bit instructions, five to twenty times as fast as in JavaScript. They are written down in the
 * bytes of the WebAssembly specification (core 2.0 and threads, binary format), so that nothing has to be built; `scan.test.ts` and
 * `fine-memory.test.ts` compare each with the same in plain arithmetic. All numbers given to them are places in their memory.
 */

/** The vectors of a memory lie from here on, each of the same number of bytes. Before them each thread has an area of its own. */
export const VECTORS = 256 * 65_536;
/** Bytes of a thread's area. */
export const AREA = 131_072;

/** Questions that are compared in one pass: of more, nothing is left to be gained. */
export const TOGETHER = 4;

export interface SignLoops {
  /**
   * Reads something of each piece of 64 bytes of the runs that `near` is to look through: the processor fetches many such pieces at
   * once where it only reads, and one after the other where it compares. Four times as fast for many short runs, nothing for long ones.
   */
  touch(runs: number, end: number): void;
  /** The same for slots, one number each. */
  touchEach(slots: number, end: number): void;
  /**
   * Of the slots of some runs (from `runs` to `end`, two numbers each: the first slot and the one behind the last) those of which at
   * most as many signs differ from the question's as the number at `limits` says (below 0: none): from `out` on two numbers each, the
   * slot and how many. Answers where they end.
   */
  near(question: number, runs: number, end: number, limits: number, out: number): number;
  /** The same for TOGETHER questions in a row and as many limits: to how many signs differ, 65,536 times the place of the question is added. */
  nearEach(questions: number, runs: number, end: number, limits: number, out: number): number;
  /** Puts in place of each slot from `slots` to `end` the sum of the weights (one signed byte a sign) whose sign is set in its vector. */
  weigh(weights: number, slots: number, end: number): void;
}

export interface FineLoops {
  /** Reads something of each piece of 64 bytes of the slots from `slots` to `end`, as `SignLoops.touch` does. */
  touch(slots: number, end: number): void;
  /** Puts in place of each slot from `slots` to `end` the dot product of its 8-bit whole numbers and the 16-bit ones at `numbers`. */
  dot(numbers: number, slots: number, end: number): void;
}

/** May be given to other threads. */
export interface VectorMemory {
  readonly buffer: SharedArrayBuffer;
  /** By pages of 64 KiB; arrays over the former buffer end where it ended. */
  grow(pages: number): number;
}

/** What of WebAssembly is used here: its types come with the browser's, which nothing else here needs. */
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: {
    Memory: new (size: { initial: number; maximum: number; shared: true }) => VectorMemory;
    Module: new (bytes: Uint8Array) => object;
    Instance: new (module: object, imports: Record<string, Record<string, unknown>>) => { exports: unknown };
  };
};

/** Bytes that a processor fetches at once. */
const LINE = 64;
const PAGE = 65_536;
const MOST_PAGES = 65_536;

/** A memory without vectors: pages nobody wrote to take no room. */
export function createVectorMemory(): VectorMemory {
  return new WebAssembly.Memory({ initial: VECTORS / PAGE, maximum: MOST_PAGES, shared: true });
}

/** Where a thread may write what it asks: each caller's area is its own, until 127 others came after it. */
export function takeArea(memory: VectorMemory): number {
  const taken = Atomics.add(new Int32Array(memory.buffer, 0, 1), 0, 1);
  return (1 + (taken % (VECTORS / AREA - 1))) * AREA;
}

/** Makes room for the bytes before `end`. */
export function growTo(memory: VectorMemory, end: number): void {
  const missing = end - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
}

/** The loops over vectors of signs, of `size` bytes (a multiple of 16). */
export const signLoops = (memory: VectorMemory, size: number): SignLoops =>
  loopsOver(memory, `signs ${size}`, { touch: [2, 0, touch(size, 2)], touchEach: [2, 0, touch(size, 1)], near: [5, 1, near(size, 1)], nearEach: [5, 1, near(size, TOGETHER)], weigh: [3, 0, weigh(size)] }) as SignLoops;

/** The loops over vectors of whole numbers, of `size` bytes (a multiple of 8), of which the first `numbers` (a multiple of 8) count. */
export const fineLoops = (memory: VectorMemory, size: number, numbers: number): FineLoops =>
  loopsOver(memory, `fine ${size} ${numbers}`, { touch: [2, 0, touch(size, 1)], dot: [3, 0, dot(size, numbers)] }) as FineLoops;

/** Parameters (32-bit), results (0 or 1), and the code with its locals. */
type Loop = [parameters: number, results: number, code: number[]];
const modules = new Map<string, object>();

function loopsOver(memory: VectorMemory, name: string, loops: Record<string, Loop>): unknown {
  let module = modules.get(name);
  if (module === undefined) modules.set(name, (module = new WebAssembly.Module(Uint8Array.from(assemble(loops)))));
  return new WebAssembly.Instance(module, { m: { m: memory } }).exports;
}

const [I32, I64, V128] = [0x7f, 0x7e, 0x7b];

/** Seven bits a byte, the lowest first. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}
function signed(value: number): number[] {
  const low = value & 127;
  const rest = value >> 7;
  return (rest === 0 && low < 64) || (rest === -1 && low > 63) ? [low] : [low | 128, ...signed(rest)];
}

const get = (local: number): number[] => [0x20, ...unsigned(local)];
const set = (local: number): number[] => [0x21, ...unsigned(local)];
const constant = (value: number): number[] => [0x41, ...signed(value)];
const step = (local: number, by: number): number[] => [...get(local), ...constant(by), ...ADD, ...set(local)];
const ADD = [0x6a];
const MULTIPLY = [0x6c];
const SUBTRACT = [0x6b];
const DIVIDE = [0x6e];
const NOT_MORE = [0x4c];
const TO_32 = [0xa7];
const load32 = (offset: number): number[] => [0x28, 2, offset];
const store32 = (offset: number): number[] => [0x36, 2, offset];
const load64 = (offset: number): number[] => [0x29, 0, ...unsigned(offset)];
const XOR_64 = [0x85];
const ONES_OF_64 = [0x7b];
const ADD_64 = [0x7c];
const END = 0x0b;
/** A loop that goes on while one number is less than another; its body runs at least once. */
const whileLess = (a: number, b: number, body: number[]): number[] => [0x03, 0x40, ...body, ...get(a), ...get(b), 0x49, 0x0d, 0, END];
const whenNotMore = (a: number, b: number, body: number[]): number[] => [...get(a), ...get(b), ...NOT_MORE, 0x04, 0x40, ...body, END];
/** Where the vector of a slot begins, and the slot of a vector that begins there. */
const placeOf = (slot: number[], size: number): number[] => [...slot, ...constant(size), ...MULTIPLY, ...constant(VECTORS), ...ADD];
const slotAt = (place: number[], size: number): number[] => [...place, ...constant(VECTORS), ...SUBTRACT, ...constant(size), ...DIVIDE];

const ZEROS = [...constant(0), 0xfd, 0x0f];
const load = (offset: number): number[] => [0xfd, 0x00, 0, ...unsigned(offset)];
const load8Widened = (offset: number): number[] => [0xfd, 0x01, 0, ...unsigned(offset)];
const bytes = (...values: number[]): number[] => [0xfd, 0x0c, ...values];
const pick = (...lanes: number[]): number[] => [0xfd, 0x0d, ...lanes];
const EQUAL = [0xfd, 0x23];
const AND = [0xfd, 0x4e];
const PAIRS_OF_SIGNED_BYTES = [0xfd, 0x7c];
const PAIRS_OF_SIGNED_16 = [0xfd, 0x7e];
const ADD_16 = [0xfd, 0x8e, 0x01];
const ADD_32 = [0xfd, 0xae, 0x01];
const DOT_16 = [0xfd, 0xba, 0x01];
const lane = (n: number): number[] => [0xfd, 0x1b, n];
/** The four 32-bit numbers of a local, added. */
const sumOf = (local: number): number[] => [0, 1, 2, 3].flatMap((n) => [...get(local), ...lane(n), ...(n > 0 ? ADD : [])]);

function near(size: number, questions: number): number[] {
  const words = Array.from({ length: size / 8 }, (_, i) => i);
  const each = Array.from({ length: questions }, (_, i) => i);
  const [asked, runs, end, limits, out, at, behind, sum, limit] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const [word, own] = [limit + questions, limit + questions + words.length];
  const vectors = whileLess(at, behind, [
    // Each word is read once for all questions.
    ...words.flatMap((i) => [...get(at), ...load64(i * 8), ...set(word + i)]),
    ...each.flatMap((question) => [
      // Eight bytes have an instruction of their own that counts; 16 bytes would be counted by table. No loop: what is asked stays at hand.
      ...words.flatMap((i) => [...get(word + i), ...get(own + question * words.length + i), ...XOR_64, ...ONES_OF_64, ...(i > 0 ? ADD_64 : [])]), ...TO_32, ...set(sum),
      // One in a hundred is near enough: a jump that is guessed right, and nothing to do for the others.
      ...whenNotMore(sum, limit + question, [
        ...get(out), ...slotAt(get(at), size), ...store32(0), ...get(out), ...get(sum), ...constant(question << 16), ...ADD, ...store32(4), ...step(out, 8),
      ]),
    ]),
    ...step(at, size),
  ]);
  return withLocals([[3 + questions, I32], [words.length * (1 + questions), I64]], [
    ...each.flatMap((question) => [
      ...get(limits), ...load32(question * 4), ...set(limit + question),
      ...words.flatMap((i) => [...get(asked), ...load64(question * size + i * 8), ...set(own + question * words.length + i)]),
    ]),
    ...whileLess(runs, end, [
      ...placeOf([...get(runs), ...load32(0)], size), ...set(at), ...placeOf([...get(runs), ...load32(4)], size), ...set(behind),
      ...vectors, ...step(runs, 8),
    ]),
    ...get(out),
  ]);
}

/** Of runs (two numbers each) or, one number each, of slots alone. */
function touch(size: number, numbers: 1 | 2): number[] {
  const [list, end, at, behind, sum] = [0, 1, 2, 3, 4];
  const last = numbers === 2 ? placeOf([...get(list), ...load32(4)], size) : [...get(at), ...constant(size), ...ADD];
  return withLocals([[2, I32], [1, I64]], whileLess(list, end, [
    ...placeOf([...get(list), ...load32(0)], size), ...set(at), ...last, ...set(behind),
    ...whileLess(at, behind, [...get(sum), ...get(at), ...load64(0), ...ADD_64, ...set(sum), ...step(at, LINE)]), ...step(list, numbers * 4),
  ]));
}

function weigh(size: number): number[] {
  const [weights, slots, end, at, behind, weight, sum, signs, pairs] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const bits = bytes(...[0, 1].flatMap(() => [1, 2, 4, 8, 16, 32, 64, 128]));
  // 128 signs at a time, 16 in a step: their two bytes eight times each, one sign of them in each lane.
  const sixteen = (i: number): number[] => [
    ...get(signs), ...get(signs), ...pick(...Array.from({ length: 16 }, (_, to) => i * 2 + (to >> 3))), ...bits, ...AND, ...bits, ...EQUAL,
    ...get(weight), ...load(i * 16), ...AND, ...PAIRS_OF_SIGNED_BYTES, ...(i > 0 ? [...get(pairs), ...ADD_16] : []), ...set(pairs),
  ];
  return withLocals([[3, I32], [3, V128]], whileLess(slots, end, [
    ...placeOf([...get(slots), ...load32(0)], size), ...set(at), ...get(at), ...constant(size), ...ADD, ...set(behind), ...get(weights), ...set(weight),
    ...ZEROS, ...set(sum),
    ...whileLess(at, behind, [
      ...get(at), ...load(0), ...set(signs), ...[0, 1, 2, 3, 4, 5, 6, 7].flatMap(sixteen),
      ...get(pairs), ...PAIRS_OF_SIGNED_16, ...get(sum), ...ADD_32, ...set(sum), ...step(at, 16), ...step(weight, 128),
    ]),
    ...get(slots), ...sumOf(sum), ...store32(0), ...step(slots, 4),
  ]));
}

function dot(size: number, count: number): number[] {
  const [numbers, slots, end, at, behind, number, sum] = [0, 1, 2, 3, 4, 5, 6];
  const atOnce = count % 32 === 0 ? 4 : 1;
  const eight = (i: number): number[] => [...get(number), ...load(i * 16), ...get(at), ...load8Widened(i * 8), ...DOT_16, ...get(sum), ...ADD_32, ...set(sum)];
  return withLocals([[3, I32], [1, V128]], whileLess(slots, end, [
    ...placeOf([...get(slots), ...load32(0)], size), ...set(at), ...get(at), ...constant(count), ...ADD, ...set(behind), ...get(numbers), ...set(number),
    ...ZEROS, ...set(sum),
    ...whileLess(at, behind, [...Array.from({ length: atOnce }, (_, i) => eight(i)).flat(), ...step(at, atOnce * 8), ...step(number, atOnce * 16)]),
    ...get(slots), ...sumOf(sum), ...store32(0), ...step(slots, 4),
  ]));
}

const withLocals = (locals: [count: number, type: number][], body: number[]): number[] =>
  sized([locals.length, ...locals.flatMap(([count, type]) => [...unsigned(count), type]), ...body, END]);
const sized = (content: number[]): number[] => [...unsigned(content.length), ...content];

function assemble(loops: Record<string, Loop>): number[] {
  const name = (text: string): number[] => [text.length, ...Buffer.from(text)];
  const section = (id: number, entries: number[][]): number[] => [id, ...sized([entries.length, ...entries.flat()])];
  const all = Object.entries(loops);
  return [
    0, ...Buffer.from('asm'), 1, 0, 0, 0,
    ...section(1, all.map(([, [parameters, results]]) => [0x60, parameters, ...Array.from({ length: parameters }, () => I32), results, ...(results > 0 ? [I32] : [])])),
    // A memory that threads share, of at least one page.
    ...section(2, [[...name('m'), ...name('m'), 2, 3, 1, ...unsigned(MOST_PAGES)]]),
    ...section(3, all.map((_, i) => [i])),
    ...section(7, all.map(([exported], i) => [...name(exported), 0, i])),
    ...section(10, all.map(([, [, , code]]) => code)),
  ];
}
