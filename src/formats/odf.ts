import { cleanText } from './flow.ts';
import { readOdfObject } from './odf-object.ts';
import { sensibleTitle } from './ooxml.ts';
import { needsPassword } from './sniff.ts';
import { type ReadOptions, UnreadableFile } from './types.ts';
import { childOf, childrenOf, elementsOf, findFirst, isDamage, readXmlTree, textOf, type XmlElement } from './xml.ts';
import { openZip, type Zip, type ZipEntry } from './zip.ts';

/** What the three OpenDocument readers share: the package, its paragraphs, its title. */
export interface OdfPackage {
  zip: Zip;
  content: ZipEntry;
  title?: string;
}

export function openOdf(bytes: Uint8Array, options: ReadOptions): OdfPackage {
  const zip = openZip(bytes, { maxUnpackedBytes: options.maxUnpackedBytes });
  const manifest = zip.find('META-INF/manifest.xml');
  if (manifest && manifest.packedBytes > 0) {
    try {
      if (findFirst(readXmlTree(zip, manifest), 'manifest:encryption-data')) throw needsPassword();
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }
  const content = zip.find('content.xml');
  if (!content || content.packedBytes === 0) throw new UnreadableFile('Damaged: the part that holds its text is missing');
  return { zip, content, title: readOdfTitle(zip) };
}

function readOdfTitle(zip: Zip): string | undefined {
  const meta = zip.find('meta.xml');
  if (!meta || meta.packedBytes === 0) return undefined;
  try {
    const title = findFirst(readXmlTree(zip, meta), 'dc:title');
    return title && sensibleTitle(textOf(title));
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** One paragraph with what hangs on it. */
export interface OdfParagraph {
  text: string;
  hidden: string;
  /** Comments. */
  notes: string[];
  /** Footnotes and endnotes, by the mark that stands in the text. */
  footnotes: { mark: string; body: XmlElement; atEnd: boolean }[];
  /** Text boxes and other frames anchored in it, to be read after it. */
  frames: XmlElement[];
  /** Offsets where the program that wrote the file ended a page. */
  breaks: number[];
}

const noStyles: ReadonlySet<string> = new Set();

/** Text of `text:p` or `text:h`; `marks` counts footnotes through the document, `hiddenSpans` are styles that show nothing. */
export function readOdfParagraph(p: XmlElement, marks: { count: number } = { count: 0 }, hiddenSpans = noStyles): OdfParagraph {
  const result: OdfParagraph = { text: '', hidden: '', notes: [], footnotes: [], frames: [], breaks: [] };
  const visit = (element: XmlElement): void => {
    for (const child of element.children) {
      if (typeof child === 'string') {
        // White space counts once, as in a web page; blanks beyond that are elements of their own.
        const piece = child.replace(/[ \t\n\r]+/g, ' ');
        result.text += /(^|\s)$/.test(result.text.slice(-1)) && piece.startsWith(' ') ? piece.slice(1) : piece;
        continue;
      }
      switch (child.name) {
        case 'text:s':
          result.text += ' '.repeat(Math.min(1_000, Math.max(1, Number(child.attrs['text:c'] ?? 1) || 1)));
          break;
        case 'text:tab':
          result.text += '\t';
          break;
        case 'text:line-break':
          result.text += '\n';
          break;
        case 'text:soft-page-break':
          result.breaks.push(result.text.length);
          break;
        case 'text:note': {
          const body = childOf(child, 'text:note-body');
          if (!body) break;
          const mark = `[${++marks.count}]`;
          result.text += mark;
          result.footnotes.push({ mark, body, atEnd: child.attrs['text:note-class'] === 'endnote' });
          break;
        }
        case 'office:annotation': {
          const comment = readOdfAnnotation(child);
          if (comment !== '') result.notes.push(comment);
          break;
        }
        case 'text:hidden-text':
        case 'text:hidden-paragraph':
          result.hidden += child.attrs['text:string-value'] ?? textOf(child);
          break;
        case 'text:span': {
          if (!hiddenSpans.has(child.attrs['text:style-name'] ?? '')) {
            visit(child);
            break;
          }
          const shown = result.text;
          result.text = '';
          visit(child);
          result.hidden += result.text;
          result.text = shown;
          break;
        }
        case 'field:fieldmark':
          result.text += fieldMarkText(child);
          visit(child);
          break;
        case 'text:ruby':
          visit(childOf(child, 'text:ruby-base') ?? child);
          result.text += textOf(childOf(child, 'text:ruby-text')) && `(${textOf(childOf(child, 'text:ruby-text'))})`;
          break;
        case 'text:change':
        case 'text:change-start':
        case 'text:change-end':
        case 'text:bookmark':
        case 'office:annotation-end':
        case 'presentation:notes':
          break;
        default:
          if (child.name.startsWith('draw:') && child.name !== 'draw:a') result.frames.push(child);
          else visit(child);
      }
    }
  };
  visit(p);
  result.text = cleanText(result.text);
  return result;
}

/** A comment with its author; empty when it says nothing. */
export function readOdfAnnotation(annotation: XmlElement): string {
  const author = textOf(childOf(annotation, 'dc:creator')).trim();
  const text = elementsOf(annotation).filter(({ name }) => name === 'text:p' || name === 'text:list').map(textOf).join(' ').trim();
  return text === '' ? '' : cleanText(`Comment${author ? ` by ${author}` : ''}: ${text}`);
}

/** What a drop-down list or a check box from a Word file shows: its parameters say it, it has no text of its own. */
function fieldMarkText(field: XmlElement): string {
  const values = (name: string): string[] => childrenOf(field, 'field:param').filter((param) => param.attrs['field:name'] === name).map((param) => param.attrs['field:value'] ?? '');
  const type = field.attrs['field:type'] ?? '';
  if (type.endsWith('FORMDROPDOWN')) return values('Dropdown_ListEntry')[Number(values('Dropdown_Selected')[0] ?? 0)] ?? '';
  if (type.endsWith('FORMCHECKBOX')) return values('Checkbox_Checked')[0] === 'true' ? '☒' : '☐';
  return '';
}

/** Text of a chart, formula or SmartArt-like object that a frame shows, and whether the frame is one to look at. */
export function readOdfFrame(zip: Zip, frame: XmlElement): { text: string; isFigure: boolean; box: XmlElement | undefined } {
  const box = childOf(frame, 'draw:text-box');
  if (box) return { text: '', isFigure: false, box };
  const object = childOf(frame, 'draw:object');
  if (object) {
    const { text, isFormula } = readOdfObject(zip, object);
    return { text, isFigure: !isFormula, box: undefined };
  }
  return { text: '', isFigure: childOf(frame, 'draw:image') !== undefined || childOf(frame, 'draw:object-ole') !== undefined || childOf(frame, 'draw:plugin') !== undefined, box: undefined };
}

/** A length such as `2.5cm` in points; 0 when it is none. */
export function pointsOf(length: string | undefined): number {
  const match = /^(-?[\d.]+)(cm|mm|in|pt|pc|px)?$/.exec(length ?? '');
  if (!match) return 0;
  return Number(match[1]) * ({ cm: 28.3465, mm: 2.83465, in: 72, pt: 1, pc: 12, px: 0.75 }[match[2] ?? 'pt'] ?? 1);
}
