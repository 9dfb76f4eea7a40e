import { z } from 'zod';

/** What tesseract found in one picture: lines of words with their places in pixels from the top left. */

const ends = z.tuple([z.number(), z.number(), z.number(), z.number()]);
/** From where a word or line of text starts to where it ends: x, y, x, y. */
export type Ends = z.infer<typeof ends>;

export const foundLines = z.array(
  z.object({
    /** Does it start a paragraph? */
    paragraph: z.boolean(),
    baseline: ends,
    words: z.array(
      z
        .tuple([z.string(), z.number(), z.number(), z.number(), z.number(), z.number(), z.number()])
        .transform(([text, confidence, x1, y1, x2, y2, points]) => ({ text, confidence, baseline: [x1, y1, x2, y2] as Ends, points })),
    ),
  }),
);

export type FoundLine = z.infer<typeof foundLines>[number];

/** Lines end `\n`, paragraphs are parted by a blank line. */
export function textOf(lines: readonly FoundLine[]): string {
  let text = '';
  for (const { paragraph, words } of lines) {
    if (words.length === 0) continue;
    if (text !== '') text += paragraph ? '\n\n' : '\n';
    text += words.map((word) => word.text).join(' ');
  }
  return text;
}

/** Mean confidence of the words, weighted by their length, 0 to 100; 0 without words. */
export function confidenceOf(lines: readonly FoundLine[]): number {
  let sum = 0;
  let weight = 0;
  for (const { words } of lines) {
    for (const { text, confidence } of words) {
      sum += confidence * text.length;
      weight += text.length;
    }
  }
  return weight === 0 ? 0 : sum / weight;
}
