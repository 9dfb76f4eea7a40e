/** The words of a folder's name. A name alone says little of its language: which one counts is for the scope of a search to say. */
import { analyseTitle } from './document.ts';
import { LANGUAGES } from './languages.ts';

/** Terms of a folder's name with the languages (ISO 639-1) that write it so: `Rechnungen` is `rechnung` in German. */
export function analyseFolderName(name: string): Map<string, string[]> {
  const terms = new Map<string, string[]>();
  for (const language of LANGUAGES) {
    for (const term of analyseTitle(name, undefined, language).keys()) terms.set(term, [...(terms.get(term) ?? []), language]);
  }
  return terms;
}
