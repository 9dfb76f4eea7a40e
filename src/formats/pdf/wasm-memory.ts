/**
 * Lowers the memory maximum that a WASM module declares, so that a bomb fails inside instead of growing until the watchdog
 * sees it. The memory section is 5: count, then flags, minimum and maximum in pages of 64 KiB (WebAssembly core, 5.5.8).
 */
export function capWasmMemory(module: Uint8Array, maxBytes: number): Uint8Array {
  const out = new Uint8Array(module);
  let at = 8;
  while (at < out.length) {
    const id = out[at]!;
    const size = readLeb(out, at + 1);
    if (id === 5) {
      const count = readLeb(out, size.next);
      const hasMaximum = (out[count.next]! & 1) === 1;
      if (count.value !== 1 || !hasMaximum) throw new Error('Unexpected memory section');
      const minimum = readLeb(out, count.next + 1);
      const maximum = readLeb(out, minimum.next);
      const pages = Math.max(minimum.value, Math.min(maximum.value, Math.floor(maxBytes / 65536)));
      // Same length as before: a LEB128 number may carry leading zeros.
      for (let i = minimum.next, rest = pages; i < maximum.next; i += 1, rest >>>= 7) {
        out[i] = (rest & 0x7f) | (i < maximum.next - 1 ? 0x80 : 0);
      }
      return out;
    }
    at = size.next + size.value;
  }
  throw new Error('No memory section');
}

function readLeb(bytes: Uint8Array, at: number): { value: number; next: number } {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at]!;
    at += 1;
    value += (byte & 0x7f) * 2 ** shift;
    if ((byte & 0x80) === 0) return { value, next: at };
  }
}
