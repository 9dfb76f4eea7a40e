import { UnreadableFile } from './types.ts';
import { childOf, childrenOf, elementsOf, findFirst, isDamage, readXmlTree, textOf, type XmlElement } from './xml.ts';
import type { Zip } from './zip.ts';

/** One relationship of a part: where its `r:id` points. */
export interface Relation {
  /** Last segment of the relationship type: `slide`, `footnotes`, `chart`, …; the same for both dialects. */
  kind: string;
  /** Part name inside the package, or the address when `external`. */
  target: string;
  external: boolean;
}

/** Relationships of a part by id; none when the part has no relationships file. A broken one counts as none. */
export function readRelations(zip: Zip, part: string): Map<string, Relation> {
  const slash = part.lastIndexOf('/');
  const entry = zip.find(`${part.slice(0, slash + 1)}_rels/${part.slice(slash + 1)}.rels`);
  const relations = new Map<string, Relation>();
  if (!entry) return relations;
  let root: XmlElement;
  try {
    root = readXmlTree(zip, entry);
  } catch (error) {
    if (isDamage(error)) return relations;
    throw error;
  }
  for (const { attrs } of elementsOf(root)) {
    if (!attrs['Id'] || !attrs['Target']) continue;
    const external = attrs['TargetMode'] === 'External';
    relations.set(attrs['Id'], {
      kind: (attrs['Type'] ?? '').split('/').pop() ?? '',
      target: external ? attrs['Target'] : resolvePart(part, attrs['Target']),
      external,
    });
  }
  return relations;
}

/** The part a package is about (`word/document.xml`), by its root relationships, else by the usual name. */
export function findMainPart(zip: Zip, usual: string): string {
  const main = [...readRelations(zip, '').values()].find((relation) => relation.kind === 'officeDocument');
  for (const part of [main?.target, usual]) if (part && zip.find(part)) return part;
  throw new UnreadableFile('Damaged: the part that holds its text is missing');
}

/** Target of the first relationship of that kind that exists. */
export const relatedPart = (zip: Zip, relations: Map<string, Relation>, kind: string): string | undefined =>
  [...relations.values()].find((relation) => relation.kind === kind && !relation.external && zip.find(relation.target))?.target;

export function resolvePart(from: string, target: string): string {
  let decoded = target;
  try {
    decoded = decodeURIComponent(target);
  } catch {
    // A stray percent sign is part of the name.
  }
  const parts = decoded.startsWith('/') ? [] : from.split('/').slice(0, -1);
  for (const step of decoded.replaceAll('\\', '/').split('/')) {
    if (step === '..') parts.pop();
    else if (step !== '' && step !== '.') parts.push(step);
  }
  return parts.join('/');
}

/** Title from docProps/core.xml, if a person gave one. */
export function readTitle(zip: Zip): string | undefined {
  const entry = zip.find('docProps/core.xml');
  if (!entry) return undefined;
  try {
    const title = findFirst(readXmlTree(zip, entry), 'dc:title');
    return title && sensibleTitle(textOf(title));
  } catch (error) {
    // Properties are a nicety: a document is not refused for them.
    if (error instanceof UnreadableFile) return undefined;
    throw error;
  }
}

const emptyTitles = /^(untitled|document|presentation|powerpoint presentation|slide|microsoft word|microsoft powerpoint|workbook|book|title|no title|template|doc|tmp)?[\s\-–—:.]*\d*$/i;

/** A title a person would recognise, or undefined for programs' defaults ("PowerPoint Presentation", "Document1"). */
export function sensibleTitle(raw: string): string | undefined {
  const title = raw.replace(/\p{C}+/gu, ' ').replace(/\s+/g, ' ').trim().replace(/^Microsoft (Word|PowerPoint|Excel) - /i, '');
  if (title.length < 2 || title.length > 300 || emptyTitles.test(title)) return undefined;
  return title.replace(/\.(docx?|pptx?|xlsx?|pdf|rtf|txt)$/i, '');
}

const understood = new Set(['wps', 'wpg', 'wpc', 'w14', 'w15', 'w16', 'a14', 'wp14', 'cx', 'cx1', 'c14', 'am3d']);

/** The newer form where we know it, else the fallback: never both, or a text box would be read twice. */
export function chooseAlternate(element: XmlElement): XmlElement {
  const choices = childrenOf(element, 'mc:Choice');
  const known = choices.find((choice) => (choice.attrs['Requires'] ?? '').split(/\s+/).every((prefix) => understood.has(prefix)));
  return known ?? childOf(element, 'mc:Fallback') ?? choices[0] ?? element;
}
