/**
 * Vectors in the manner of embedding models: texts lie in clusters of topics with topics inside them, all share a common
 * direction, and a question lies near some of them. Always the same for the same numbers.
 */
export interface VectorSource {
  next(): Float32Array;
  question(): Float32Array;
}

export function clusteredVectors(dimensions: number, count: number, seed = 7): VectorSource {
  const random = mulberry32(seed);
  // Three even ones together are near enough to a bell, and quick.
  const gauss = (): number => (random() + random() + random() - 1.5) * 2;
  const noise = (size: number): Float32Array => new Float32Array(dimensions).map(() => gauss() * size);
  const plus = (a: Float32Array, b: Float32Array): Float32Array => a.map((x, i) => x + b[i]!);
  const common = noise(0.6);
  const topics = Array.from({ length: Math.max(20, Math.floor(count / 2_000)) }, () => plus(common, noise(1)));
  const inner = topics.flatMap((topic) => Array.from({ length: 20 }, () => plus(topic, noise(0.7))));
  const near = (size: number): Float32Array => unit(plus(inner[Math.floor(random() * inner.length)]!, noise(size)));
  return { next: () => near(0.6), question: () => near(0.5) };
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return vector.map((x) => x / length);
}

function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
