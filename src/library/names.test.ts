import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cleanFileName, cleanFolderName, foldName, typeByName } from './names.ts';

const refused = (name: string): boolean => {
  try {
    cleanFolderName(name);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid', field: 'name' });
    return true;
  }
};

/** What must never be left in a name: control characters, bidi controls, tags, lone surrogates. */
const unsafe = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), fc.string({ unit: 'grapheme', maxLength: 200 }), fc.string({ maxLength: 300 }));

describe('folder names (trust.md 5.5)', () => {
  test('what is refused, and what is an ordinary name', () => {
    for (const name of ['', ' ', '.', '..', '/', 'a/b', '\\', 'a\\b', '\u200b', '\u200d\u200c', '\u2060', '\u3164', '\u0301', '\t\n', '\u202e', ' .. ', 'x'.repeat(121)]) {
      expect(refused(name), JSON.stringify(name)).toBe(true);
    }
    for (const name of ['<script>', '${7*7}', '{{x}}', '=CMD()', 'null', 'undefined', 'true', '__proto__', 'constructor', 'Аdmin', '...', 'x'.repeat(120), '👩‍👩‍👧‍👦', 'می‌خواهم']) {
      expect(cleanFolderName(name)).toBe(name);
    }
    expect(cleanFolderName('  a\u202eb\u2066c\u{e0041}\0d\r\ne  ')).toBe('abcd e');
    expect(cleanFolderName('e\u0301')).toBe('é');
  });

  test('whatever comes in is refused or a clean, stable, short name', () => {
    fc.assert(
      fc.property(text, (raw) => {
        let name: string;
        try {
          name = cleanFolderName(raw);
        } catch {
          return;
        }
        expect(name).not.toMatch(unsafe);
        expect(name).not.toMatch(/[/\\]/);
        expect(name).toBe(name.normalize('NFC').trim());
        expect(Array.from(name).length).toBeLessThanOrEqual(120);
        expect(cleanFolderName(name)).toBe(name);
        expect(foldName(foldName(name))).toBe(foldName(name));
      }),
      { numRuns: 3_000 },
    );
  });

  test('names that read the same fold to one', () => {
    for (const [a, b] of [['Straße', 'STRASSE'], ['STRAẞE', 'strasse'], ['É', 'e\u0301'], ['ΣΊΣΥΦΟΣ', 'σίσυφος'], ['Ǆ', 'ǆ'], ['FILE', 'file']] as const) {
      expect(foldName(a)).toBe(foldName(b));
    }
    expect(foldName('Admin')).not.toBe(foldName('Аdmin'));
  });
});

describe('file names (trust.md 5.1, row 10)', () => {
  test('are display text: the last part of a path, cleaned', () => {
    const cases: [string, string][] = [
      ['../../etc/passwd\0.pdf', 'passwd.pdf'], ['C:\\Users\\ava\\deck.pptx', 'deck.pptx'], ['CON', 'CON'], ['a"; filename=b', 'a"; filename=b'],
      ['a\r\nSet-Cookie: x.pdf', 'a Set-Cookie: x.pdf'], ['\u202efdp.exe', 'fdp.exe'], ['', 'untitled'], ['..', 'untitled'], ['/', 'untitled'], ['\u200b', 'untitled'],
      ['.htaccess', '.htaccess'], ['Ä\u0301rger.pdf', 'Ä́rger.pdf'],
    ];
    for (const [raw, name] of cases) expect(cleanFileName(raw), raw).toBe(name);
  });

  test('are at most 255 bytes, cut between graphemes, the extension kept', () => {
    expect(cleanFileName(`${'x'.repeat(300)}.pdf`)).toBe(`${'x'.repeat(251)}.pdf`);
    expect(cleanFileName(`${'👩‍👩‍👧'.repeat(40)}.pptx`)).toMatch(/^(👩‍👩‍👧)+\.pptx$/u);
    fc.assert(
      fc.property(text, (raw) => {
        const name = cleanFileName(raw);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
        expect(name.length).toBeGreaterThan(0);
        expect(name).not.toMatch(unsafe);
        expect(name).not.toMatch(/[/\\]/);
        expect(cleanFileName(name)).toBe(name);
      }),
      { numRuns: 3_000 },
    );
  });

  test('say a type, until the content does', () => {
    expect(['a.PDF', 'b.tar.gz', 'noext', '.bashrc', 'x.with space', 'y.'].map(typeByName)).toEqual(['pdf', 'gz', 'file', 'bashrc', 'file', 'file']);
  });
});
