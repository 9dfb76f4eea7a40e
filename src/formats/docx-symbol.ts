const lettersFrom = (code: number, letters: string) => Array.from(letters).map((letter, at): [number, string] => [code + at, letter]);
const greek: Record<number, string> = Object.fromEntries([...lettersFrom(65, 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ'), ...lettersFrom(97, 'αβχδεφγηιϕκλμνοπθρστυϖωξψζ')]);
const wingdings: Record<number, string> = { 0xfe: '☒', 0xfd: '☒', 0xa8: '☐', 0x6f: '☐', 0xfc: '✓', 0xfb: '✗', 0xe0: '→', 0xdf: '←', 0xa7: '▪', 0x6c: '●' };

/** Characters of symbol fonts lie in the private area: shown as what they draw where that is known. */
export function symbol(font: string, hex: string): string {
  const code = Number.parseInt(hex, 16);
  if (!Number.isFinite(code)) return '';
  const low = code >= 0xf000 ? code - 0xf000 : code;
  if (/^symbol$/i.test(font)) return greek[low] ?? { 0xb0: '°', 0xb1: '±', 0xb3: '≥', 0xa3: '≤', 0xb4: '×', 0xb7: '•', 0xae: '→', 0xb9: '≠', 0xbb: '≈', 0xd6: '√', 0xa5: '∞' }[low] ?? (low < 128 ? String.fromCharCode(low) : '•');
  if (/wingdings/i.test(font)) return wingdings[low] ?? '•';
  return code >= 0xe000 && code <= 0xf8ff ? '•' : String.fromCodePoint(code);
}
