import { childOf, findFirst, isDamage, readXmlTree } from './xml.ts';
import type { Zip } from './zip.ts';

/** Latin fonts of an Office theme: `major` for headings, `minor` for text. */
export function readThemeFonts(zip: Zip, part: string | undefined): { major?: string; minor?: string } {
  const entry = part === undefined ? undefined : zip.find(part);
  if (!entry || entry.packedBytes === 0) return {};
  try {
    const scheme = findFirst(readXmlTree(zip, entry), 'a:fontScheme');
    const fontOf = (name: string) => childOf(childOf(scheme, name), 'a:latin')?.attrs['typeface'];
    return { major: fontOf('a:majorFont'), minor: fontOf('a:minorFont') };
  } catch (error) {
    if (isDamage(error)) return {};
    throw error;
  }
}
