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

/**
 * Similarity of a vector to signs alone: the vector's own numbers, added where the other is positive and taken away where it is
 * not. Nearer to the truth than counting differing signs. By a table for each eight dimensions.
 */
export function signSimilarity(vector: Float32Array): (signs: Uint8Array, at: number) => number {
  const bytes = wordsOf(vector.length) * 4;
  const sums = new Float64Array(bytes * 256);
  let all = 0;
  for (const x of vector) all += x;
  for (let byte = 0; byte < bytes; byte++) {
    for (let bits = 1; bits < 256; bits++) {
      const lowest = 31 - Math.clz32(bits & -bits);
      sums[byte * 256 + bits] = sums[byte * 256 + (bits & (bits - 1))]! + (vector[byte * 8 + lowest] ?? 0);
    }
  }
  return (signs, at) => {
    let positive = 0;
    for (let byte = 0; byte < bytes; byte++) positive += sums[byte * 256 + signs[at + byte]!]!;
    return 2 * positive - all;
  };
}
