/** Zips of XML parts made in code: just enough of a Word or PowerPoint file for the reader under test. */
import { strToU8, zipSync, type Zippable } from 'fflate';

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const officeRelations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

export const namespaces =
  'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"' +
  ' xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"' +
  ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"' +
  ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml"' +
  ' xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"' +
  ' xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" xmlns:s="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';

/** Strings are XML and get their declaration; bytes stay as they are. */
export function zipOf(parts: Record<string, string | Uint8Array>): Uint8Array {
  const files: Zippable = {};
  for (const [name, content] of Object.entries(parts)) files[name] = typeof content === 'string' ? strToU8(content.startsWith('<?xml') || !content.startsWith('<') ? content : xml + content) : content;
  return zipSync(files);
}

/** `[id, kind, target]` rows. */
export const relationsXml = (rows: [id: string, kind: string, target: string][]): string =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${rows
    .map(([id, kind, target]) => `<Relationship Id="${id}" Type="${officeRelations}/${kind}" Target="${target}"/>`)
    .join('')}</Relationships>`;

const mime = 'application/vnd.openxmlformats-officedocument';

const contentTypesOf = (mainPart: string, type: string): string =>
  '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
  '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>' +
  `<Override PartName="/${mainPart}" ContentType="${mime}.${type}.main+xml"/></Types>`;

export const contentTypesXml = contentTypesOf('ppt/presentation.xml', 'presentationml.presentation');

/** A Word file of this body; `parts` are further parts by the name of their relationship (`footnotes`, `numbering`, …). */
export function wordFile(body: string, parts: Record<string, string> = {}, moreRelations: [string, string, string][] = []): Uint8Array {
  const related = Object.entries(parts).filter(([kind]) => !kind.includes('/'));
  return zipOf({
    '[Content_Types].xml': contentTypesOf('word/document.xml', 'wordprocessingml.document'),
    '_rels/.rels': relationsXml([['rId1', 'officeDocument', 'word/document.xml']]),
    'word/document.xml': `<w:document ${namespaces}><w:body>${body}</w:body></w:document>`,
    'word/_rels/document.xml.rels': relationsXml([...related.map(([kind], at): [string, string, string] => [`rel${at}`, kind, `${kind}.xml`]), ...moreRelations]),
    ...Object.fromEntries(Object.entries(parts).map(([kind, content]) => [kind.includes('/') ? kind : `word/${kind}.xml`, content])),
  });
}

/** A deck: each slide is the inner XML of its shape tree, or that with further parts and relationships of its own. */
export function deckFile(slides: (string | { shapes: string; relations?: [string, string, string][]; parts?: Record<string, string> })[]): Uint8Array {
  const parts: Record<string, string> = {
    '[Content_Types].xml': contentTypesXml,
    '_rels/.rels': relationsXml([['rId1', 'officeDocument', 'ppt/presentation.xml']]),
    'ppt/presentation.xml': `<p:presentation ${namespaces}><p:sldIdLst>${slides.map((_, at) => `<p:sldId id="${256 + at}" r:id="s${at}"/>`).join('')}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relationsXml(slides.map((_, at) => [`s${at}`, 'slide', `slides/slide${at + 1}.xml`])),
  };
  slides.forEach((slide, at) => {
    const { shapes, relations = [], parts: more = {} } = typeof slide === 'string' ? { shapes: slide } : slide;
    parts[`ppt/slides/slide${at + 1}.xml`] = `<p:sld ${namespaces}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`;
    if (relations.length > 0) parts[`ppt/slides/_rels/slide${at + 1}.xml.rels`] = relationsXml(relations);
    Object.assign(parts, more);
  });
  return zipOf(parts);
}
