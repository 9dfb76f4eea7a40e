import { pageOf } from './flow.ts';
import { readHtmlBlocks } from './html-blocks.ts';
import { decodeHtml } from './html.ts';
import { resolvePart, sensibleTitle } from './ooxml.ts';
import { sniffContainer } from './sniff.ts';
import { type Format, type ReadOptions, type ReadPage, type ReadResult, UnreadableFile } from './types.ts';
import { childOf, childrenOf, findAll, findFirst, isDamage, readXmlTree, textOf, type XmlElement } from './xml.ts';
import { isZip, openZip, type Zip } from './zip.ts';

/** E-book: the chapters in reading order (the spine), one chapter = one page. */
export function readEpub(bytes: Uint8Array, options: ReadOptions): ReadResult {
  const zip = openZip(bytes, { maxUnpackedBytes: options.maxUnpackedBytes });
  refuseProtected(zip);
  const container = zip.find('META-INF/container.xml');
  const rootfile = container && findFirst(readXmlTree(zip, container), 'ocf:rootfile');
  const part = rootfile?.attrs['full-path'] ?? zip.entries.find((entry) => entry.name.toLowerCase().endsWith('.opf'))?.name;
  const entry = part === undefined ? undefined : zip.find(part);
  if (part === undefined || !entry) throw new UnreadableFile('Damaged: the list of its chapters is missing');
  const root = readXmlTree(zip, entry);
  const chapters = readSpine(root).map((href) => resolvePart(part, href));
  if (chapters.length === 0) throw new UnreadableFile('The book has no chapters — there is nothing to read');
  if (chapters.length > options.maxPages) throw new UnreadableFile(`Too large to read: it has more than ${options.maxPages.toLocaleString('en-US')} chapters`);
  const pages = chapters.map((chapter, index): ReadPage => {
    options.onProgress?.(index + 1, chapters.length);
    const file = zip.find(chapter);
    try {
      if (!file) throw new UnreadableFile('Damaged: a chapter is missing');
      if (/\.svg$/i.test(chapter)) return { number: index + 1, text: '', fate: 'image_only', toView: true };
      if (file.packedBytes === 0) return { number: index + 1, text: '', fate: 'empty', toView: false };
      return pageOf(readHtmlBlocks(decodeHtml(zip.bytes(file))).blocks, index);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return { number: index + 1, text: '', fate: 'failed', toView: true };
    }
  });
  const failed = pages.filter((page) => page.fate === 'failed').length;
  if (failed === pages.length) throw new UnreadableFile('Damaged: no chapter could be read');
  const title = findFirst(root, 'dc:title');
  return {
    type: 'epub',
    pages,
    pagesEstimated: false,
    title: title && sensibleTitle(textOf(title)),
    ...(failed > 0 && { notices: [`${failed} of ${pages.length} chapters are damaged and could not be read`] }),
  };
}

function readSpine(root: XmlElement): string[] {
  const items = new Map(childrenOf(childOf(root, 'opf:manifest'), 'opf:item').map((item) => [item.attrs['id'] ?? '', item.attrs]));
  return childrenOf(childOf(root, 'opf:spine'), 'opf:itemref').flatMap((reference) => {
    const item = items.get(reference.attrs['idref'] ?? '');
    return item?.['href'] ? [item['href'].split('#')[0]!] : [];
  });
}

/** Fonts may be scrambled; an encrypted chapter means that the shop's own reader is needed. */
function refuseProtected(zip: Zip): void {
  const encryption = zip.find('META-INF/encryption.xml');
  if (!encryption || encryption.packedBytes === 0) return;
  const targets = findAll(readXmlTree(zip, encryption), '?:CipherReference').map((reference) => reference.attrs['URI'] ?? '');
  if (targets.some((target) => /\.(x?html?|xml|opf|ncx)$/i.test(target))) throw new UnreadableFile('It is copy-protected (DRM), so its text cannot be read — upload a copy without protection');
}

export const epub: Format = {
  type: 'epub',
  sniff: (head) => isZip(head) && sniffContainer(head, 'x.epub') === 'epub',
  read: async (bytes, options) => readEpub(bytes, options),
};
