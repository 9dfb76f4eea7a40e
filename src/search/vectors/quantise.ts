/**
 * A vector in two forms: its signs, one bit a dimension, to look through everything quickly; and 8-bit whole numbers with a
 * scale, to put the best in order. A million vectors of 384 dimensions are 48 MB of signs (search.md section 1).
 */
export interface QuantisedVector {
  /** Dimension i is bit i % 32 of word i / 32: 1 when positive. */
  bits: Uint32Array;
  int8: Int8Array;
  /** Times this, the whole numbers are the vector again. */
  scale: number;
}

export const wordsOf = (dimensions: number): number => (dimensions + 31) >> 5;

export function quantise(vector: Float32Array): QuantisedVector {
  const bits = signsOf(vector);
  let largest = 0;
  for (let i = 0; i < vector.length; i++) largest = Math.max(largest, Math.abs(vector[i]!));
  const scale = largest / 127;
  const int8 = new Int8Array(vector.length);
  if (scale > 0) for (let i = 0; i < vector.length; i++) int8[i] = Math.round(vector[i]! / scale);
  return { bits, int8, scale };
}

export function signsOf(vector: Float32Array): Uint32Array {
  const bits = new Uint32Array(wordsOf(vector.length));
  for (let i = 0; i < vector.length; i++) if (vector[i]! > 0) bits[i >> 5]! |= 1 << (i & 31);
  return bits;
}

/** A vector of length 1 as 16-bit whole numbers: a question is compared in these, so that sums are the same in whatever order. */
export function wholeNumbers(vector: Float32Array): Int16Array {
  const numbers = new Int16Array(vector.length);
  for (let i = 0; i < vector.length; i++) numbers[i] = Math.round(Math.max(-1, Math.min(1, vector[i]!)) * WHOLE);
  return numbers;
}
const WHOLE = 32_767;

/** The cosine, from the dot product of a question's whole numbers and those of a quantised vector: all vectors have length 1. */
export const similarityOf = (dot: number, scale: number): number => (dot / WHOLE) * scale;

/** The dot product of whole numbers. */
export function dotOf(question: Int16Array, int8: Int8Array): number {
  let sum = 0;
  for (let i = 0; i < question.length; i++) sum += question[i]! * int8[i]!;
  return sum;
}

/** A vector as 8-bit whole numbers, to weigh the signs of others by. */
export function signWeights(vector: Float32Array): Int8Array {
  return quantise(vector).int8;
}
