import { SaxesParser } from 'saxes';
import { UnreadableFile } from './types.ts';
import type { Zip, ZipEntry } from './zip.ts';

/** An element with its names in canonical prefixes (`w:p`), whichever prefix or dialect the file itself uses. */
export interface XmlElement {
  name: string;
  attrs: Record<string, string>;
  children: XmlNode[];
}
export type XmlNode = XmlElement | string;

export interface XmlHandler {
  /**
   * Called at each start tag outside of a collected tree. Return true to have the whole element built and handed to
   * `onTree`; its inner elements then cause no calls. This keeps a 100 MB part in memory one paragraph at a time.
   */
  onOpen(name: string, attrs: Record<string, string>): boolean | void;
  onTree?(element: XmlElement): void;
  onClose?(name: string): void;
}

/** Deeper nesting than any program writes: an attack on the stack. */
const maxDepth = 512;
const maxNodesPerTree = 4_000_000;

/** Transitional, strict and OpenDocument namespaces → one prefix each. */
const prefixOf = new Map<string, string>();
const both = (path: string, prefix: string) => {
  prefixOf.set(`http://schemas.openxmlformats.org/${path}`, prefix);
  prefixOf.set(`http://purl.oclc.org/ooxml/${path.replace('/2006', '')}`, prefix);
};
both('wordprocessingml/2006/main', 'w');
both('drawingml/2006/main', 'a');
both('drawingml/2006/chart', 'c');
both('drawingml/2006/diagram', 'dgm');
both('drawingml/2006/picture', 'pic');
both('drawingml/2006/wordprocessingDrawing', 'wp');
both('presentationml/2006/main', 'p');
both('drawingml/2006/spreadsheetDrawing', 'xdr');
both('spreadsheetml/2006/main', 's');
both('officeDocument/2006/relationships', 'r');
both('officeDocument/2006/math', 'm');
for (const [uri, prefix] of [
  ['http://schemas.openxmlformats.org/package/2006/relationships', 'rel'],
  ['http://schemas.openxmlformats.org/package/2006/content-types', 'ct'],
  ['http://schemas.openxmlformats.org/package/2006/metadata/core-properties', 'cp'],
  ['http://schemas.openxmlformats.org/markup-compatibility/2006', 'mc'],
  ['http://schemas.openxmlformats.org/drawingml/2006/chartDrawing', 'cdr'],
  ['http://schemas.microsoft.com/office/word/2010/wordprocessingShape', 'wps'],
  ['http://schemas.microsoft.com/office/word/2010/wordprocessingGroup', 'wpg'],
  ['http://schemas.microsoft.com/office/word/2010/wordprocessingCanvas', 'wpc'],
  ['http://schemas.microsoft.com/office/word/2010/wordml', 'w14'],
  ['http://schemas.microsoft.com/office/drawing/2010/main', 'a14'],
  ['http://schemas.microsoft.com/office/drawing/2008/diagram', 'dsp'],
  ['http://schemas.microsoft.com/office/drawing/2014/chartex', 'cx'],
  ['http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments', 'tc'],
  ['urn:schemas-microsoft-com:vml', 'v'],
  ['urn:schemas-microsoft-com:office:office', 'o'],
  ['http://purl.org/dc/elements/1.1/', 'dc'],
  ['http://www.w3.org/1999/xlink', 'xlink'],
  ['http://www.w3.org/1998/Math/MathML', 'math'],
  ['http://www.w3.org/1999/xhtml', 'html'],
  ['http://www.idpf.org/2007/opf', 'opf'],
  ['urn:oasis:names:tc:opendocument:xmlns:container', 'ocf'],
  ['urn:openoffice:names:experimental:ooo-ms-interop-xmlns:field:1.0', 'field'],
] as const) {
  prefixOf.set(uri, prefix);
}
for (const [part, prefix] of Object.entries({
  office: 'office', text: 'text', table: 'table', drawing: 'draw', style: 'style', presentation: 'presentation', meta: 'meta',
  manifest: 'manifest', chart: 'chart', datastyle: 'number', 'svg-compatible': 'svg', 'xsl-fo-compatible': 'fo', form: 'form',
})) {
  prefixOf.set(`urn:oasis:names:tc:opendocument:xmlns:${part}:1.0`, prefix);
}

/** Feeds text to a parser and calls the handler; throws UnreadableFile on a DTD (entities) or broken XML. */
export function createXmlReader(handler: XmlHandler): { write(text: string): void; close(): void } {
  const parser = new SaxesParser({ xmlns: false, position: false });
  let scope = new Map<string, string>();
  const scopes: (Map<string, string> | undefined)[] = [];
  let canonical = new Map<string, string>();
  let tree: XmlElement[] = [];
  let nodes = 0;

  const nameOf = (raw: string, isAttribute: boolean): string => {
    const key = isAttribute ? `@${raw}` : raw;
    const known = canonical.get(key);
    if (known !== undefined) return known;
    const colon = raw.indexOf(':');
    const prefix = colon < 0 ? '' : raw.slice(0, colon);
    let name = raw;
    if (!(isAttribute && prefix === '')) {
      const uri = scope.get(prefix);
      if (uri !== undefined) name = `${prefixOf.get(uri) ?? '?'}:${raw.slice(colon + 1)}`;
    }
    canonical.set(key, name);
    return name;
  };

  const addText = (text: string) => {
    const top = tree[tree.length - 1];
    if (!top) return;
    const last = top.children.length - 1;
    if (typeof top.children[last] === 'string') top.children[last] += text;
    else top.children.push(text);
  };

  parser.on('doctype', (doctype) => {
    // XHTML and NCX files name a public DTD without defining anything; entities of their own are an attack.
    if (/[[]|<!ENTITY/i.test(doctype) || !/PUBLIC|^\s*html\s*$/i.test(doctype)) {
      throw new UnreadableFile('Refused: it defines XML entities of its own (a DTD), which such files never need');
    }
  });
  parser.on('error', (error) => {
    // Control characters and unknown named entities are no reason to lose a document; broken structure is.
    if (/disallowed character|undefined entity|malformed character entity|disallowed/i.test(error.message)) return;
    throw new UnreadableFile('Damaged: a part of it is not well-formed XML');
  });
  parser.on('opentag', (tag) => {
    const raw = tag.attributes as Record<string, string>;
    let own: Map<string, string> | undefined;
    for (const key in raw) {
      if (key === 'xmlns' || key.startsWith('xmlns:')) {
        own ??= new Map(scope);
        own.set(key === 'xmlns' ? '' : key.slice(6), raw[key]!);
      }
    }
    scopes.push(own ? scope : undefined);
    if (scopes.length > maxDepth) throw new UnreadableFile('Damaged: its parts are nested too deep to be a real document');
    if (own) {
      scope = own;
      canonical = new Map();
    }
    const name = nameOf(tag.name, false);
    const attrs: Record<string, string> = {};
    for (const key in raw) {
      if (key !== 'xmlns' && !key.startsWith('xmlns:')) attrs[nameOf(key, true)] = raw[key]!;
    }
    if (tree.length > 0 || handler.onOpen(name, attrs) === true) {
      if (tree.length === 0) nodes = 0;
      if (++nodes > maxNodesPerTree) throw new UnreadableFile('Too large to read: one of its parts is larger than any real document has');
      const element: XmlElement = { name, attrs, children: [] };
      tree[tree.length - 1]?.children.push(element);
      tree.push(element);
    }
  });
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', (tag) => {
    const done = tree.pop();
    if (done && tree.length === 0) handler.onTree?.(done);
    else if (!done) handler.onClose?.(nameOf(tag.name, false));
    const outer = scopes.pop();
    if (outer) {
      scope = outer;
      canonical = new Map();
    }
  });

  return {
    write: (text) => void parser.write(text),
    close: () => {
      parser.close();
      tree = [];
    },
  };
}

/** Reads one part of a zip through the handler, never holding more of it than one tree. */
export function readXmlPart(zip: Zip, entry: ZipEntry, handler: XmlHandler): void {
  const reader = createXmlReader(handler);
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  zip.stream(entry, (chunk) => {
    decoder ??= new TextDecoder(encodingOf(chunk));
    reader.write(decoder.decode(chunk, { stream: true }));
  });
  if (!decoder) throw new UnreadableFile('Damaged: a part of it is empty');
  reader.close();
}

/** The whole part as one tree; for parts that are small by nature (relationships, styles, one slide). */
export function readXmlTree(zip: Zip, entry: ZipEntry): XmlElement {
  let root: XmlElement | undefined;
  readXmlPart(zip, entry, { onOpen: () => true, onTree: (element) => void (root = element) });
  if (!root) throw new UnreadableFile('Damaged: a part of it is empty');
  return root;
}

function encodingOf(head: Uint8Array): string {
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0x3c && head[1] === 0)) return 'utf-16le';
  if ((head[0] === 0xfe && head[1] === 0xff) || (head[0] === 0 && head[1] === 0x3c)) return 'utf-16be';
  const declared = /^<\?xml[^>]*encoding=["']([\w.-]+)["']/.exec(Buffer.from(head.subarray(0, 200)).toString('latin1'))?.[1];
  try {
    return declared ? new TextDecoder(declared).encoding : 'utf-8';
  } catch {
    return 'utf-8';
  }
}

/** True for a part that is broken, as against one that is too large: the rest of the file may still be read. */
export const isDamage = (error: unknown): boolean => error instanceof UnreadableFile && error.reason.startsWith('Damaged');

export const elementsOf = (element: XmlElement): XmlElement[] => element.children.filter((child) => typeof child !== 'string');

export function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  if (!element) return undefined;
  for (const child of element.children) if (typeof child !== 'string' && child.name === name) return child;
  return undefined;
}

export const childrenOf = (element: XmlElement | undefined, name: string): XmlElement[] =>
  element ? elementsOf(element).filter((child) => child.name === name) : [];

/** Follows a path of child names: `pathOf(p, 'w:pPr', 'w:numPr')`. */
export function pathOf(element: XmlElement | undefined, ...names: string[]): XmlElement | undefined {
  let at = element;
  for (const name of names) at = childOf(at, name);
  return at;
}

/** All descendants of that name, in document order, not looking inside a match. */
export function findAll(element: XmlElement, name: string, found: XmlElement[] = []): XmlElement[] {
  for (const child of element.children) {
    if (typeof child === 'string') continue;
    if (child.name === name) found.push(child);
    else findAll(child, name, found);
  }
  return found;
}

export function findFirst(element: XmlElement, name: string): XmlElement | undefined {
  for (const child of element.children) {
    if (typeof child === 'string') continue;
    if (child.name === name) return child;
    const inner = findFirst(child, name);
    if (inner) return inner;
  }
  return undefined;
}

export function textOf(element: XmlElement | undefined): string {
  if (!element) return '';
  let text = '';
  for (const child of element.children) text += typeof child === 'string' ? child : textOf(child);
  return text;
}
