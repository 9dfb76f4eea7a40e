import { expect, test } from 'vitest';
import { namespaces, wordFile } from '../../test/support/zip-fixture.ts';
import { readDocx } from './docx.ts';
import { missingFontNotice } from './fonts.ts';

const available = ['carlito', 'liberation sans', 'dejavu sans'];

test('fonts with a stand-in of the same widths and fonts of signs cost nothing', () => {
  expect(missingFontNotice(['Calibri', 'Arial', 'DejaVu Sans', 'Wingdings', '+mn-lt', ''], new Set(available))).toBeUndefined();
  expect(missingFontNotice(['Garamond', 'garamond'], new Set(available))).toBe('Font Garamond is missing on this server: lines and pages of its PDF copy may break elsewhere than in the original');
  expect(missingFontNotice(['A', 'B', 'C'], new Set(available))).toMatch(/^Fonts A, B and C are missing/);
});

test('a Word file says which of the fonts of its own text are missing', () => {
  const styles = `<w:styles ${namespaces}><w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:asciiTheme="minorHAnsi"/></w:rPr></w:rPrDefault></w:docDefaults><w:style w:type="paragraph" w:styleId="Unused"><w:rPr><w:rFonts w:ascii="Papyrus"/></w:rPr></w:style></w:styles>`;
  const theme = `<a:theme ${namespaces}><a:themeElements><a:fontScheme><a:majorFont><a:latin typeface="Impact"/></a:majorFont><a:minorFont><a:latin typeface="Optima"/></a:minorFont></a:fontScheme></a:themeElements></a:theme>`;
  const body = '<w:p><w:r><w:t>Themed </w:t></w:r><w:r><w:rPr><w:rFonts w:ascii="Garamond"/></w:rPr><w:t>own</w:t></w:r></w:p>';
  const read = (fonts: string[] | undefined) => readDocx(wordFile(body, { styles, theme }), { name: 'a', maxPages: 10, maxUnpackedBytes: 1e6, availableFonts: fonts }).notices;
  expect(read(available)).toEqual([expect.stringMatching(/^Fonts Garamond and Optima are missing/)]);
  expect(read([...available, 'garamond', 'optima'])).toBeUndefined();
  expect(read(undefined)).toBeUndefined();
});
