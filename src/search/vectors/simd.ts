/**
 * Three loops over vectors in 64 and 128-bit instructions, five to fifteen times as fast as in JavaScript. They are written down in the
 * bytes of the WebAssembly specification (core 2.0, binary format), so that nothing has to be built; `scan.test.ts` and
 * `fine-memory.test.ts` compare each with the same in plain arithmetic.
 */

/** All of a loop's numbers are bytes or places in the memory given to `loopsOver`. */
export interface VectorLoops {
  /**
   * Of the vectors of `size` bytes (a multiple of 16) from `at` to `end` those of which at most `limit` signs differ from the
   * question's: from `out` on a 32-bit number each, place << 16 | how many. Answers where they end.
   */
  near(question: number, at: number, end: number, size: number, limit: number, out: number): number;
  /** The sum of the weights (one signed byte a sign) whose sign is set in the vector at `at`. */
  weigh(weights: number, at: number, end: number): number;
  /** The dot product of 16-bit whole numbers and the 8-bit ones from `at` to `end` (a multiple of 8). */
  dot(numbers: number, at: number, end: number): number;
}

export interface VectorMemory {
  readonly buffer: ArrayBuffer;
  /** By pages of 64 KiB; arrays over the former buffer are empty afterwards. */
  grow(pages: number): number;
}

export const PAGE = 65_536;

/** What of WebAssembly is used here: its types come with the browser's, which nothing else here needs. */
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: {
    Memory: new (size: { initial: number }) => VectorMemory;
    Module: new (bytes: Uint8Array) => object;
    Instance: new (module: object, imports: Record<string, Record<string, unknown>>) => { exports: unknown };
  };
};

/** A memory of one page and the loops over it. */
export function createVectorMemory(): { memory: VectorMemory; loops: VectorLoops } {
  const memory = new WebAssembly.Memory({ initial: 1 });
  module ??= new WebAssembly.Module(Uint8Array.from(assemble()));
  return { memory, loops: new WebAssembly.Instance(module, { m: { m: memory } }).exports as VectorLoops };
}

let module: object | null = null;

const [I32, I64, V128] = [0x7f, 0x7e, 0x7b];
const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const constant = (value: number): number[] => [0x41, value];
const step = (local: number, by: number): number[] => [...get(local), ...constant(by), ...ADD, ...set(local)];
const ADD = [0x6a];
const ZERO_64 = [0x42, 0];
/** 1 << 16. */
const ONE_TO_16 = [0x41, 0x80, 0x80, 0x04];
const OR = [0x72];
const SHIFT_LEFT = [0x74];
const NOT_MORE = [0x4d];
const TO_32 = [0xa7];
const STORE_32 = [0x36, 0, 0];
const load8 = (offset: number): number[] => [0x29, 0, offset];
const XOR_64 = [0x85];
const ONES_OF_64 = [0x7b];
const ADD_64 = [0x7c];
const END = 0x0b;
/** A loop that goes on while one number is less than another. */
const whileLess = (a: number, b: number, body: number[]): number[] => [0x03, 0x40, ...body, ...get(a), ...get(b), 0x49, 0x0d, 0, END];

const ZEROS = [...constant(0), 0xfd, 0x0f];
const LOAD = [0xfd, 0x00, 0, 0];
const LOAD_8_WIDENED = [0xfd, 0x01, 0, 0];
const LOAD_2_REPEATED = [0xfd, 0x08, 0, 0];
const bytes = (...values: number[]): number[] => [0xfd, 0x0c, ...values];
const PICK = [0xfd, 0x0e];
const EQUAL = [0xfd, 0x23];
const AND = [0xfd, 0x4e];
const PAIRS_OF_SIGNED_BYTES = [0xfd, 0x7c];
const PAIRS_OF_SIGNED_16 = [0xfd, 0x7e];
const ADD_32 = [0xfd, 0xae, 0x01];
const DOT_16 = [0xfd, 0xba, 0x01];
const lane = (n: number): number[] => [0xfd, 0x1b, n];
/** The four 32-bit numbers of a local, added. */
const sumOf = (local: number): number[] => [0, 1, 2, 3].flatMap((n) => [...get(local), ...lane(n), ...(n > 0 ? ADD : [])]);

function near(): number[] {
  const [question, at, end, size, limit, out, asked, stop, place, sum] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  // Eight bytes have an instruction of their own that counts; 16 bytes would be counted by table.
  const eight = (offset: number): number[] => [...get(asked), ...load8(offset), ...get(at), ...load8(offset), ...XOR_64, ...ONES_OF_64, ...get(sum), ...ADD_64, ...set(sum)];
  const vectors = whileLess(at, end, [
    ...ZERO_64, ...set(sum), ...get(question), ...set(asked), ...get(at), ...get(size), ...ADD, ...set(stop),
    ...whileLess(at, stop, [...eight(0), ...eight(8), ...step(at, 16), ...step(asked, 16)]),
    // Written in any case, and kept by going on behind it: no jump to be guessed wrong.
    ...get(out), ...get(place), ...get(sum), ...TO_32, ...OR, ...STORE_32,
    ...get(out), ...get(sum), ...TO_32, ...get(limit), ...NOT_MORE, ...constant(2), ...SHIFT_LEFT, ...ADD, ...set(out),
    ...get(place), ...ONE_TO_16, ...ADD, ...set(place),
  ]);
  return [...vectors, ...get(out)];
}

function weigh(): number[] {
  const [weights, at, end, sum] = [0, 1, 2, 3];
  const bits = bytes(...[0, 1].flatMap(() => [1, 2, 4, 8, 16, 32, 64, 128]));
  const sixteen = [
    ...get(at), ...LOAD_2_REPEATED, ...bytes(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1), ...PICK, ...bits, ...AND, ...bits, ...EQUAL,
    ...get(weights), ...LOAD, ...AND,
    ...PAIRS_OF_SIGNED_BYTES, ...PAIRS_OF_SIGNED_16, ...get(sum), ...ADD_32, ...set(sum),
    ...step(at, 2), ...step(weights, 16),
  ];
  return [...ZEROS, ...set(sum), ...whileLess(at, end, sixteen), ...sumOf(sum)];
}

function dot(): number[] {
  const [numbers, at, end, sum] = [0, 1, 2, 3];
  const eight = [
    ...get(numbers), ...LOAD, ...get(at), ...LOAD_8_WIDENED, ...DOT_16, ...get(sum), ...ADD_32, ...set(sum),
    ...step(at, 8), ...step(numbers, 16),
  ];
  return [...ZEROS, ...set(sum), ...whileLess(at, end, eight), ...sumOf(sum)];
}

function assemble(): number[] {
  const name = (text: string): number[] => [text.length, ...Buffer.from(text)];
  const sized = (content: number[]): number[] => [(content.length & 127) | 128, content.length >> 7, ...content];
  const section = (id: number, entries: number[][]): number[] => [id, ...sized([entries.length, ...entries.flat()])];
  const code = (locals: number[], body: number[]): number[] => sized([...locals, ...body, END]);
  return [
    0, ...Buffer.from('asm'), 1, 0, 0, 0,
    ...section(1, [[0x60, 6, I32, I32, I32, I32, I32, I32, 1, I32], [0x60, 3, I32, I32, I32, 1, I32]]),
    ...section(2, [[...name('m'), ...name('m'), 2, 0, 1]]),
    ...section(3, [[0], [1], [1]]),
    ...section(7, [[...name('near'), 0, 0], [...name('weigh'), 0, 1], [...name('dot'), 0, 2]]),
    ...section(10, [code([2, 3, I32, 1, I64], near()), code([1, 1, V128], weigh()), code([1, 1, V128], dot())]),
  ];
}
