/** The fixture makers against programs that are not ours. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeDocx, makePptx } from './office-fixtures.ts';
import { makePdf } from './pdf-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'sergo-fixtures-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const has = (program: string): boolean => spawnSync('which', [program]).status === 0;
const pdftotext = (path: string): string => spawnSync('pdftotext', ['-layout', path, '-'], { encoding: 'utf8' }).stdout;

function toPdf(name: string, bytes: Uint8Array): string {
  writeFileSync(join(folder, name), bytes);
  const profile = `-env:UserInstallation=file://${folder}/profile`;
  spawnSync('soffice', [profile, '--headless', '--convert-to', 'pdf', '--outdir', folder, join(folder, name)], {
    timeout: 60_000,
  });
  return join(folder, name.replace(/\.\w+$/, '.pdf'));
}

test.skipIf(!has('pdftotext'))('makePdf writes pages that poppler reads without complaint', () => {
  const path = join(folder, 'a.pdf');
  writeFileSync(
    path,
    makePdf(
      ['First (page) \\ one\nsecond line', { text: 'Zweite: Größe', width: 300, height: 200, rotate: 90 }],
      'A title',
    ),
  );
  const info = spawnSync('pdfinfo', [path], { encoding: 'utf8' });
  expect(info.stderr).toBe('');
  expect(info.stdout).toMatch(/Title:\s+A title[^]*Pages:\s+2/);
  expect(pdftotext(path)).toMatch(/First \(page\) \\ one\s+second line\s+\f\s*Zweite: Größe/);
});

test('the same arguments make the same bytes', () => {
  expect(makePdf(['x'])).toEqual(makePdf(['x']));
});

test.skipIf(!has('soffice') || !has('pdftotext'))(
  'LibreOffice opens makeDocx and makePptx',
  { timeout: 120_000 },
  () => {
    const docx = toPdf(
      'report.docx',
      makeDocx([{ text: 'Chapter', heading: 1 }, 'Costs < 5 & more', { text: 'Next', pageBreakBefore: true }]),
    );
    expect(pdftotext(docx)).toMatch(/Chapter\s+Costs < 5 & more\s+\f\s*Next/);
    const pptx = toPdf('deck.pptx', makePptx([{ title: 'Sales', text: 'grow\nfast' }, 'Thanks']));
    expect(pdftotext(pptx)).toMatch(/Sales\s+grow\s+fast\s+\f\s*Thanks/);
  },
);
