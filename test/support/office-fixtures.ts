/** Small Word and PowerPoint files made in code, real enough for LibreOffice to open. */
import { strToU8, zipSync } from 'fflate';

const header = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const packageTypes = 'http://schemas.openxmlformats.org/package/2006/content-types';
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships';
const officeRelations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const drawing = 'http://schemas.openxmlformats.org/drawingml/2006/main';
const presentation = 'http://schemas.openxmlformats.org/presentationml/2006/main';
const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const mime = 'application/vnd.openxmlformats-officedocument';

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function pack(parts: Record<string, string>): Uint8Array {
  return zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(header + text)])));
}

/** `[type, target]` pairs become rId1, rId2, … */
function relations(targets: readonly (readonly [type: string, target: string])[]): string {
  const rows = targets.map(
    ([type, target], index) =>
      `<Relationship Id="rId${index + 1}" Type="${officeRelations}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${packageRelations}">${rows.join('')}</Relationships>`;
}

function contentTypes(overrides: Record<string, string>): string {
  const rows = Object.entries(overrides).map(
    ([part, type]) => `<Override PartName="/${part}" ContentType="${mime}.${type}+xml"/>`,
  );
  return (
    `<Types xmlns="${packageTypes}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="application/xml"/>${rows.join('')}</Types>`
  );
}

export interface DocxParagraph {
  text: string;
  /** 1 is a chapter. */
  heading?: 1 | 2 | 3;
  pageBreakBefore?: boolean;
}

/** A string is an ordinary paragraph. */
export function makeDocx(paragraphs: readonly (DocxParagraph | string)[]): Uint8Array {
  const body = paragraphs.map((entry) => {
    const { text, heading, pageBreakBefore } = typeof entry === 'string' ? ({ text: entry } as DocxParagraph) : entry;
    const style = heading === undefined ? '' : `<w:pStyle w:val="Heading${heading}"/>`;
    const pageBreak = pageBreakBefore ? '<w:pageBreakBefore/>' : '';
    return `<w:p><w:pPr>${style}${pageBreak}</w:pPr><w:r><w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r></w:p>`;
  });
  const styles = [1, 2, 3].map(
    (level) =>
      `<w:style w:type="paragraph" w:styleId="Heading${level}"><w:name w:val="heading ${level}"/>` +
      `<w:pPr><w:outlineLvl w:val="${level - 1}"/></w:pPr><w:rPr><w:b/></w:rPr></w:style>`,
  );
  return pack({
    '[Content_Types].xml': contentTypes({
      'word/document.xml': 'wordprocessingml.document.main',
      'word/styles.xml': 'wordprocessingml.styles',
    }),
    '_rels/.rels': relations([['officeDocument', 'word/document.xml']]),
    'word/_rels/document.xml.rels': relations([['styles', 'styles.xml']]),
    'word/styles.xml': `<w:styles xmlns:w="${word}">${styles.join('')}</w:styles>`,
    'word/document.xml': `<w:document xmlns:w="${word}"><w:body>${body.join('')}<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr></w:body></w:document>`,
  });
}

export interface PptxSlide {
  title: string;
  /** Lines are paragraphs. */
  text?: string;
}

/** One slide a page; a string is a slide with that title alone. */
export function makePptx(slides: readonly (PptxSlide | string)[]): Uint8Array {
  const numbered = slides.map((entry, index) => ({
    part: `ppt/slides/slide${index + 1}.xml`,
    slide: typeof entry === 'string' ? { title: entry } : entry,
  }));
  const spaces = `xmlns:a="${drawing}" xmlns:r="${officeRelations}" xmlns:p="${presentation}"`;
  const tree = (shapes: string): string =>
    `<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>${shapes}</p:spTree></p:cSld>`;
  const parts: Record<string, string> = {
    '[Content_Types].xml': contentTypes({
      'ppt/presentation.xml': 'presentationml.presentation.main',
      'ppt/slideMasters/slideMaster1.xml': 'presentationml.slideMaster',
      'ppt/slideLayouts/slideLayout1.xml': 'presentationml.slideLayout',
      'ppt/theme/theme1.xml': 'theme',
      ...Object.fromEntries(numbered.map(({ part }) => [part, 'presentationml.slide'])),
    }),
    '_rels/.rels': relations([['officeDocument', 'ppt/presentation.xml']]),
    'ppt/_rels/presentation.xml.rels': relations([
      ['slideMaster', 'slideMasters/slideMaster1.xml'],
      ...numbered.map(({ part }) => ['slide', part.slice('ppt/'.length)] as const),
    ]),
    'ppt/presentation.xml':
      `<p:presentation ${spaces}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst>` +
      numbered.map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index + 2}"/>`).join('') +
      '</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>',
    'ppt/slideMasters/_rels/slideMaster1.xml.rels': relations([
      ['slideLayout', '../slideLayouts/slideLayout1.xml'],
      ['theme', '../theme/theme1.xml'],
    ]),
    'ppt/slideMasters/slideMaster1.xml':
      `<p:sldMaster ${spaces}>${tree('')}<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/>` +
      '<p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>',
    'ppt/slideLayouts/_rels/slideLayout1.xml.rels': relations([['slideMaster', '../slideMasters/slideMaster1.xml']]),
    'ppt/slideLayouts/slideLayout1.xml': `<p:sldLayout ${spaces}>${tree('')}</p:sldLayout>`,
    'ppt/theme/theme1.xml': theme(),
  };
  for (const { part, slide } of numbered) {
    const shapes = [
      textShape(2, 'Title', slide.title, 457200, 274638, 1143000),
      slide.text === undefined ? '' : textShape(3, 'Text', slide.text, 457200, 1600200, 4525963),
    ];
    parts[part] = `<p:sld ${spaces}>${tree(shapes.join(''))}</p:sld>`;
    parts[part.replace('slides/', 'slides/_rels/') + '.rels'] = relations([
      ['slideLayout', '../slideLayouts/slideLayout1.xml'],
    ]);
  }
  return pack(parts);
}

/** Position and height in EMU. */
function textShape(id: number, name: string, text: string, x: number, y: number, height: number): string {
  const kind = name === 'Title' ? '<p:ph type="title"/>' : '';
  const paragraphs = text
    .split('\n')
    .map((line) => `<a:p><a:r><a:rPr lang="en-US"/><a:t>${escapeXml(line)}</a:t></a:r></a:p>`);
  return (
    `<p:sp><p:nvSpPr><p:cNvPr id="${id}" name="${name}"/><p:cNvSpPr/><p:nvPr>${kind}</p:nvPr></p:nvSpPr><p:spPr><a:xfrm><a:off x="${x}" y="${y}"/>` +
    `<a:ext cx="8229600" cy="${height}"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr>` +
    `<p:txBody><a:bodyPr/><a:lstStyle/>${paragraphs.join('')}</p:txBody></p:sp>`
  );
}

function theme(): string {
  const colours = [
    'dk1',
    'lt1',
    'dk2',
    'lt2',
    'accent1',
    'accent2',
    'accent3',
    'accent4',
    'accent5',
    'accent6',
    'hlink',
    'folHlink',
  ];
  const colour = (name: string): string =>
    `<a:${name}><a:srgbClr val="${name.startsWith('lt') ? 'FFFFFF' : '1F497D'}"/></a:${name}>`;
  const font = '<a:latin typeface="Liberation Sans"/><a:ea typeface=""/><a:cs typeface=""/>';
  const fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>';
  const effect = '<a:effectStyle><a:effectLst/></a:effectStyle>';
  return (
    `<a:theme xmlns:a="${drawing}" name="Plain"><a:themeElements><a:clrScheme name="Plain">${colours.map(colour).join('')}</a:clrScheme>` +
    `<a:fontScheme name="Plain"><a:majorFont>${font}</a:majorFont><a:minorFont>${font}</a:minorFont></a:fontScheme>` +
    `<a:fmtScheme name="Plain"><a:fillStyleLst>${fill.repeat(3)}</a:fillStyleLst><a:lnStyleLst>${`<a:ln w="9525">${fill}</a:ln>`.repeat(3)}</a:lnStyleLst>` +
    `<a:effectStyleLst>${effect.repeat(3)}</a:effectStyleLst><a:bgFillStyleLst>${fill.repeat(3)}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>`
  );
}
