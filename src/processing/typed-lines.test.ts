import { expect, test } from 'vitest';
import { addTypedLines } from './typed-lines.ts';

test('typed lines come before what was recognised, once', () => {
  expect(addTypedLines('CONFIDENTIAL\nABC000123', 'Dear Ben,\n\nthe harbour is closed.\nConfidential')).toBe('ABC000123\n\nDear Ben,\n\nthe harbour is closed.\nConfidential');
  expect(addTypedLines('Page 3', 'The harbour is closed. Page 3')).toBe('The harbour is closed. Page 3');
});

test('a picture in which only the typed line was recognised has nothing to add', () => {
  expect(addTypedLines('CONFIDENTIAL ABC000123', 'CONFIDENTIAL\nABC0OO123')).toBeUndefined();
  expect(addTypedLines('Page 3', '')).toBeUndefined();
});
