/** A document's excerpts made ready for the index, outside of any transaction. */
import type { AnalysedChunk, AnalysedDocument, IndexedChunk } from '../types.ts';
import { DocumentTerms } from './document-terms.ts';
import { detectLanguage } from './languages.ts';

export interface AnalysableDocument {
  /** Title and file name; the same text twice counts once. */
  title: string;
  name?: string;
  /** Given when the caller knows better than detection. */
  language?: string;
}

const MAX_LENGTH = 65_535;

/** Terms of a title and a file name. The name's extension is no word of it. */
export function analyseTitle(title: string, name: string | undefined, language: string): Map<string, number> {
  const terms = new Map<string, number>();
  const stem = name?.replace(/\.[A-Za-z0-9]{1,5}$/, '') ?? '';
  const texts = stem === '' || stem === title ? [title] : [title, stem];
  for (const text of texts) {
    const counted = new DocumentTerms(language);
    counted.add(0, text, 'body');
    // File names write spaces as underscores; the name as a whole stays an identifier.
    if (text.includes('_')) counted.add(0, text.replaceAll('_', ' '), 'body');
    const { terms: found, codes } = counted.postings();
    found.forEach((term, i) => terms.set(term, Math.max(terms.get(term) ?? 0, codes[i]!)));
  }
  return terms;
}

/** Analyses all excerpts of a document: language, then terms of body, heading and title. Takes about 0.03 ms an excerpt. */
export function analyseDocument(document: AnalysableDocument, chunks: readonly IndexedChunk[]): AnalysedDocument {
  const language = document.language ?? detectLanguage(sampleOf(document.title, chunks));
  const title = analyseTitle(document.title, document.name, language);
  const terms = new DocumentTerms(language);
  const analysed = chunks.map(({ position, page, text, extra, section }, slot): AnalysedChunk => {
    let length = terms.add(slot, text, 'body');
    if (extra !== undefined && extra !== '') length += terms.add(slot, extra, 'body');
    if (section !== null && section !== '') terms.add(slot, section, 'heading');
    return { position, page, length: Math.min(length, MAX_LENGTH) };
  });
  return { language, title, chunks: analysed, postings: terms.postings() };
}

function sampleOf(title: string, chunks: readonly IndexedChunk[]): string {
  const parts = [title];
  const step = Math.max(1, Math.floor(chunks.length / 8));
  for (let i = 0; i < chunks.length; i += step) parts.push(chunks[i]!.text.slice(0, 1_500));
  return parts.join('\n');
}
