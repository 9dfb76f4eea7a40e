import type { Passage } from './types.ts';

/**
 * What a model reads of an excerpt: the document's title, or its name without its ending, and the heading above it say what the text is
 * about when the text itself does not.
 */
export function passageText({ name, title, section, text }: Passage): string {
  const called = (title ?? name.replace(/\.[\p{L}\p{N}]{1,5}$/u, '')).trim();
  const lead = [called, section ?? ''].filter((part) => part !== '' && !text.startsWith(part));
  return [...lead, text].join('\n');
}
