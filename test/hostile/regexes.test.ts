/**
 * P27: no regular expression of ours takes more than linear time. Each one in src is taken apart and asked for a character that,
 * repeated, makes it slow (scslre: polynomial and exponential backtracking, and patterns that are tried anew at every place), and
 * for repeated alternatives of which a text could take one or the other.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { getFirstConsumedChar, hasSomeDescendant } from 'regexp-ast-analysis';
import { analyse } from 'scslre';
import { parseAst } from 'vite';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Made while running: what they are made of. Each reads like its sample, which is asked instead. */
const MADE: Record<string, { source: string; flags: string }[]> = {
  // One class of characters each.
  'src/search/analysis/fold.ts': [{ source: '[0-9٠-٩]', flags: 'g' }, { source: '[øł]', flags: 'gu' }],
  'src/search/analysis/characters.ts': [{ source: '^[\\p{Script=Han}\\p{Script=Thai}]', flags: 'v' }],
  // The same as its literal, for all places.
  'src/doors/agent/text.ts': [{ source: '[[\\p{Cc}--[\\t\\n]]\\u202A-\\u202E]', flags: 'gv' }],
  // Our own paths, with a part for each parameter.
  'src/doors/http-routes.ts': [{ source: '^/api/v1/documents/[^/]+/pages/[^/]+$', flags: '' }],
  // The name of an attribute that we ask for.
  'src/formats/html-blocks.ts': [{ source: '(?:^|[;\\s])width\\s*:\\s*([\\d.]+)px', flags: 'i' }],
  // The words of a title, without white space in them or around all.
  'src/formats/pdf/outline.ts': [{ source: 'Chapter\\s+1\\.\\s+Introduction', flags: 'iu' }],
};

interface Node {
  type: string;
  start: number;
  regex?: { pattern: string; flags: string };
  callee?: { type: string; name?: string };
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

function eachNode(value: unknown, each: (node: Node) => void): void {
  if (Array.isArray(value)) for (const one of value) eachNode(one, each);
  else if (isNode(value)) {
    each(value);
    for (const part of Object.values(value)) eachNode(part, each);
  }
}

/** Alternatives that begin alike and are told apart by what follows. */
const TOLD_APART = ['(?:<\\?xml[^>]*>\\s*|<!--(?:[^-]|-(?!->))*-->\\s*)*'];

/** What makes a pattern slow. */
function slowBy(source: string, flags: string): string[] {
  const { parsed, reports } = analyse({ source, flags });
  const slow = reports.map(({ character }) => `${JSON.stringify(character.pick)} again and again`);
  // Goes through all of it.
  hasSomeDescendant(parsed.pattern, (node) => {
    if (node.type !== 'Quantifier' || node.max < 2 || !('alternatives' in node.element) || TOLD_APART.includes(node.raw)) return false;
    const firsts = node.element.alternatives.map((alternative) => getFirstConsumedChar(alternative, 'ltr', parsed.flags).char);
    if (firsts.some((first, i) => firsts.slice(0, i).some((other) => !first.isDisjointWith(other)))) slow.push(`a choice in ${node.raw}`);
    return false;
  });
  return slow;
}

describe('regular expressions', () => {
  const literals: { at: string; source: string; flags: string }[] = [];
  const made = new Map<string, number>();
  for (const path of globSync(join(root, 'src/**/*.ts')).filter((file) => !file.endsWith('.test.ts')).toSorted()) {
    const file = relative(root, path);
    const text = readFileSync(path, 'utf8');
    eachNode(parseAst(text, { lang: 'ts' }), ({ type, start, regex, callee }) => {
      if (regex) literals.push({ at: `${file}:${text.slice(0, start).split('\n').length}`, source: regex.pattern, flags: regex.flags });
      else if ((type === 'NewExpression' || type === 'CallExpression') && callee?.name === 'RegExp') made.set(file, (made.get(file) ?? 0) + 1);
    });
  }

  it('written in src are linear', { timeout: 60_000 }, () => {
    expect(literals.length).toBeGreaterThan(350);
    const slow = literals.flatMap(({ at, source, flags }) => slowBy(source, flags).map((why) => `${at} /${source}/${flags} is slow on ${why}`));
    expect(slow).toEqual([]);
  });

  it('made while running are known here, and linear', () => {
    expect(Object.fromEntries(made)).toEqual(Object.fromEntries(Object.entries(MADE).map(([file, samples]) => [file, samples.length])));
    for (const [file, samples] of Object.entries(MADE)) for (const { source, flags } of samples) expect(slowBy(source, flags), file).toEqual([]);
  });

  it('that are slow are told from those that are not', () => {
    const slow = ['a+a+$', '(?:a+)+b', '^(a|aa)+$', 'a+b', '\\s*x\\s*$', '"[^"]*$|^ *(.*?) *$', '^(?:<!--[^]*?-->|<a>)*x'];
    expect(slow.map((source) => slowBy(source, 'u').length > 0)).toEqual(slow.map(() => true));
    expect(['(?<!a)a+b', '^a+b', '[^x]x', '\\p{L}{2,}', '^(?:ab|c)*x'].map((source) => slowBy(source, 'v'))).toEqual([[], [], [], [], []]);
  });
});
