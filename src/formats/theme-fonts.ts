import { childOf, findFirst, isDamage, readXmlTree } from './xml.ts';
import type { Zip } from './zip.ts';

export interface ThemeFonts {
  major?: string;
  minor?: string;
  majorAsian?: string;
  minorAsian?: string;
}

/** Fonts of an Office theme, `major` for headings, `minor` for text: those of Latin letters, and of Chinese, Japanese and Korean ones. */
export function readThemeFonts(zip: Zip, part: string | undefined): ThemeFonts {
  const entry = part === undefined ? undefined : zip.find(part);
  if (!entry || entry.packedBytes === 0) return {};
  try {
    const scheme = findFirst(readXmlTree(zip, entry), 'a:fontScheme');
    const fontOf = (name: string, script: string) => childOf(childOf(scheme, name), script)?.attrs['typeface'];
    return {
      major: fontOf('a:majorFont', 'a:latin'),
      minor: fontOf('a:minorFont', 'a:latin'),
      majorAsian: fontOf('a:majorFont', 'a:ea'),
      minorAsian: fontOf('a:minorFont', 'a:ea'),
    };
  } catch (error) {
    if (isDamage(error)) return {};
    throw error;
  }
}
