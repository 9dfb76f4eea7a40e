import { paginate, type FlowBlock } from './flow.ts';
import { sensibleTitle } from './ooxml.ts';
import { blocksOfText, decodeText, looksLikeText } from './text.ts';
import type { Format, ReadOptions, ReadResult } from './types.ts';

/** Markdown stays as it is written (agents read it well); headings become sections, front matter is text that is no heading. */
export function readMarkdown(bytes: Uint8Array, options: ReadOptions): ReadResult {
  const { text } = decodeText(bytes);
  const { front, body, title } = splitFrontMatter(text);
  const blocks = [...(front === '' ? [] : blocksOfText(front)), ...blocksOfMarkdown(body)];
  const pages = paginate(blocks, { maxPages: options.maxPages });
  options.onProgress?.(pages.length, pages.length);
  const firstTitle = title ?? blocks.find((block) => block.heading !== undefined && /^#\s|\n=+$/.test(block.text))?.heading;
  return { type: 'md', pages, pagesEstimated: true, title: firstTitle === undefined ? undefined : sensibleTitle(firstTitle) };
}

export const md: Format = {
  type: 'md',
  sniff: (head, name) => /\.(md|markdown|mdown|mkd|mdx)$/i.test(name) && looksLikeText(head),
  read: async (bytes, options) => readMarkdown(bytes, options),
};

function splitFrontMatter(text: string): { front: string; body: string; title?: string } {
  const match = /^---[ \t]*\n([\s\S]{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/.exec(text) ?? /^\+\+\+[ \t]*\n([\s\S]{0,20000}?)\n\+\+\+[ \t]*(?:\n|$)/.exec(text);
  // A rule between paragraphs is no front matter: that has keys.
  if (!match || !/^\s*[\w-]+\s*[:=]/.test(match[1]!)) return { front: '', body: text };
  const title = /^title\s*[:=]\s*(?:"([^"\n]*)"|'([^'\n]*)'|(\S.*|))$/im.exec(match[1]!);
  return { front: match[1]!, body: text.slice(match[0].length), title: title?.[1] ?? title?.[2] ?? title?.[3] };
}

/** Blocks between blank lines, headings as blocks of their own; `#` inside fenced code is no heading. */
function blocksOfMarkdown(text: string): FlowBlock[] {
  const blocks: FlowBlock[] = [];
  let lines: string[] = [];
  let fence = '';
  const flush = () => {
    if (lines.some((line) => line.trim() !== '')) blocks.push(...blocksOfText(lines.join('\n')));
    lines = [];
  };
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark && (fence === '' || (mark.startsWith(fence[0]!) && mark.length >= fence.length))) fence = fence === '' ? mark : '';
    const heading = fence === '' ? headingOf(line.slice(0, 1_000)) : undefined;
    const previous = lines[lines.length - 1];
    if (heading !== undefined) {
      flush();
      blocks.push({ text: line.trim(), heading: plainHeading(heading) });
    } else if (fence === '' && /^ {0,3}(=+|-{2,})[ \t]*$/.test(line) && previous !== undefined && previous.trim() !== '' && previous.length < 300 && !/^\s*([-*+>|]|\d+\.)/.test(previous)) {
      lines.pop();
      flush();
      blocks.push({ text: `${previous}\n${line.trim()}`, heading: plainHeading(previous) });
    } else {
      lines.push(line);
    }
  }
  flush();
  return blocks;
}

/** What stands between the signs before a heading and those after it. */
function headingOf(line: string): string | undefined {
  const written = /^ {0,3}#{1,6}[ \t]+([^ \t].*)$/.exec(line)?.[1];
  if (written === undefined) return undefined;
  return withoutEnd(withoutEnd(written).replace(/(?<!#)#+$/, '')) || '#';
}

const withoutEnd = (text: string): string => text.replace(/(?<![ \t])[ \t]+$/, '');

/** A heading without the signs of its markup. */
const plainHeading = (text: string): string =>
  text
    .replace(/!?\[([^[\]]*)\]\([^)]*\)/g, '$1')
    .replace(/(?<!\s)\s*\{#[\w-]+\}\s*$/, '')
    .replace(/[*_`]{1,3}(?=\S)([^*_`]+)[*_`]{1,3}/g, '$1')
    .trim();
