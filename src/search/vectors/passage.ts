import type { Passage } from './types.ts';

/**
 * What a model reads of an excerpt: the document's name without its ending and the heading above it say what the text is
 * about when the text itself does not.
 */
export function passageText({ title, section, text }: Passage): string {
  const name = title.replace(/\.[\p{L}\p{N}]{1,5}$/u, '').trim();
  const lead = [name, section ?? ''].filter((part) => part !== '' && !text.startsWith(part));
  return [...lead, text].join('\n');
}
