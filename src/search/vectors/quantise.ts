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
  for (const x of vector) largest = Math.max(largest, Math.abs(x));
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

/** Dot product of a vector and a quantised one: the cosine, as all vectors have length 1. */
export function similarity(vector: Float32Array, int8: Int8Array, scale: number): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += vector[i]! * int8[i]!;
  return sum * scale;
}
