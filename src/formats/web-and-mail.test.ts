import iconv from 'iconv-lite';
import { readFileSync } from 'node:fs';
import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { makeMsg, type MsgSpec } from '../../test/support/msg-fixture.ts';
import { hasShared, sharedPath } from '../../test/support/shared.ts';
import { zipOf } from '../../test/support/zip-fixture.ts';
import { cleanPath, readArchive, unpackArchive } from './archive.ts';
import { printableMail } from './copy-maker.ts';
import { readEml } from './eml.ts';
import { readEpub } from './epub.ts';
import { readHtml } from './html.ts';
import { sniff } from './index.ts';
import { readMsg } from './msg.ts';

const options = { name: 'a', maxPages: 5_000, maxUnpackedBytes: 1024 ** 3 };
const bytes = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding);
const htmlText = (body: string) => readHtml(bytes(body), options).pages.map((page) => page.text).join('\f');

describe('html', () => {
  test('scripts and styles are not text; menus and footers are; headings are sections', () => {
    const { pages, title } = readHtml(bytes('<!doctype html><html><head><title>Duck  farm</title><style>p{}</style></head><body><nav>Menu</nav><script>alert("x")</script><h1>About <b>ducks</b></h1><p>They   swim.<br>And fly &amp; dive.</p><footer>End</footer></body></html>'), options);
    expect(title).toBe('Duck farm');
    expect(pages[0]!.text).toBe('Menu\n\nAbout ducks\n\nThey swim.\nAnd fly & dive.\n\nEnd');
    expect(pages[0]!.sections).toEqual([{ start: 6, title: 'About ducks' }]);
  });

  test('tables by row with spans, layout tables as flowing text', () => {
    expect(htmlText('<table><tr><th rowspan=2>A</th><th colspan=2>B</th></tr><tr><td>1</td><td>2</td></tr></table>')).toBe('A | B\n | 1 | 2');
    expect(htmlText('<table><tr><td><p>one</p><p>two</p><table><tr><td>x<td>y</table></td></tr></table>')).toBe('one\n\ntwo\n\nx | y');
  });

  test('lists, preformatted text and unclosed tags', () => {
    expect(htmlText('<ol start=3><li>c<li>d</ol><ul><li>dot</ul><pre>a\n  b</pre><p>open')).toBe('3. c\n4. d\n\n• dot\n\na\n  b\n\nopen');
  });

  test('words in drawings are read, names and definitions are not', () => {
    const chart = '<svg width="400" height="300"><title>Name</title><style>.a{}</style><defs><text>spare</text></defs><g><text x="1">Tonnage</text><text>2<tspan>026</tspan></text></g></svg>';
    expect(htmlText(`<p>Before ${chart} after</p><noscript>${chart}</noscript><p>end</p>`)).toBe('Before Tonnage\n2026\nafter\n\nend');
  });

  test('text that a browser hides is kept apart', () => {
    const page = readHtml(bytes('<p>Shown <span style="display:none">buy now</span>words</p><div hidden>more</div>'), options).pages[0]!;
    expect(page.text).toBe('Shown words');
    expect(page.hidden).toBe('buy now\nmore');
  });

  test('the declared character set counts, deep nesting is no attack', () => {
    expect(readHtml(Buffer.concat([bytes('<meta charset="iso-8859-1"><p>'), Buffer.from([0xe4, 0xf6])]), options).pages[0]!.text).toBe('äö');
    expect(htmlText(`${'<div>'.repeat(50_000)}deep`)).toBe('deep');
  });

  test('a page is told by its content', () => {
    expect(sniff(bytes('<?xml version="1.0"?>\n<!-- x --><!DOCTYPE html><html>'), 'x.pdf')).toBe('html');
    expect(sniff(bytes('<p>part of a page</p>'), 'x.html')).toBe('html');
    expect(sniff(bytes('a < b and <c>'), 'notes.txt')).toBe('txt');
  });

  test('comments without number before a page that is none are read once', () => {
    const comments = '<!-- a - b -- c -->\n'.repeat(300);
    const began = performance.now();
    expect(sniff(bytes(`${comments}<p>`), 'x')).toBe('txt');
    expect(sniff(bytes(`${comments}<html>`), 'x')).toBe('html');
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});

describe('epub', () => {
  const book = (spine: string, parts: Record<string, string>) =>
    zipOf({
      mimetype: 'application/epub+zip',
      'META-INF/container.xml': '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
      'OPS/book.opf': `<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>My book</dc:title></metadata><manifest><item id="a" href="a.xhtml"/><item id="b" href="text/b%20c.xhtml"/></manifest><spine>${spine}</spine></package>`,
      ...parts,
    });
  const chapter = (text: string) => `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>${text}</body></html>`;

  test('chapters come in the order of the spine, one a page; a missing one is said', () => {
    const result = readEpub(book('<itemref idref="b"/><itemref idref="a"/>', { 'OPS/a.xhtml': chapter('<h1>Second</h1>'), 'OPS/text/b c.xhtml': chapter('<p>First</p>') }), options);
    expect(result.pages.map((page) => page.text)).toEqual(['First', 'Second']);
    expect(result.title).toBe('My book');
    const torn = readEpub(book('<itemref idref="b"/><itemref idref="a"/>', { 'OPS/a.xhtml': chapter('here') }), options);
    expect(torn.pages.map((page) => page.fate)).toEqual(['failed', 'text']);
    expect(torn.notices).toEqual(['1 of 2 chapters are damaged and could not be read']);
  });

  test('copy-protected books say so', () => {
    const encryption = '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:CipherData><enc:CipherReference URI="OPS/a.xhtml"/></enc:CipherData></enc:EncryptedData></encryption>';
    expect(() => readEpub(book('<itemref idref="a"/>', { 'META-INF/encryption.xml': encryption, 'OPS/a.xhtml': 'xx' }), options)).toThrow('copy-protected');
  });
});

describe('eml', () => {
  const mail = [
    'From: =?UTF-8?Q?J=C3=BCrgen?= <j@example.org>', 'To: Ava <ava@example.org>, ben@example.org', 'Date: Mon, 2 Oct 2023 10:00:00 +0200', 'Subject: Offer 4711', 'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="b"', '', '--b', 'Content-Type: text/plain; charset=utf-8', '', 'Please find the offer.', '', '--b',
    'Content-Type: text/plain; name="../offer.txt"', 'Content-Disposition: attachment; filename="../offer.txt"', '', 'price: 5', '--b', 'Content-Type: message/rfc822', '',
    'Subject: inner', '', 'inner body', '--b--', '',
  ].join('\r\n');

  test('headers, body and attachments', async () => {
    const result = await readEml(bytes(mail), options);
    expect(result.pages[0]!.text).toMatch(/^Subject: Offer 4711\nFrom: Jürgen <j@example.org>\nTo: Ava <ava@example.org>, ben@example.org\nDate: .*\nAttachments: .*offer\.txt.*\n\nPlease find the offer\./);
    expect(result.title).toBe('Offer 4711');
    expect(result.attachments?.map(({ name }) => name)).toEqual([expect.stringContaining('offer.txt'), expect.stringMatching(/\.eml$/)]);
    expect(Buffer.from(result.attachments![0]!.bytes).toString().trim()).toBe('price: 5');
  });

  test('a page without plain text is read as a page, the kind is told by its headers', async () => {
    const page = 'Subject: x\r\nFrom: a@b.c\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<style>b{}</style><p>Hello <b>there</b></p>';
    expect((await readEml(bytes(page), options)).pages[0]!.text).toContain('\n\nHello there');
    expect(sniff(bytes(page), 'mail')).toBe('eml');
    expect(sniff(bytes('Note: buy milk\nThen: sleep\n'), 'x')).toBe('txt');
  });
});

/** The first bytes of a PNG, which say its size. */
function pngOf(width: number, height: number): Buffer {
  const head = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000', 'hex');
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return head;
}

describe('pictures of a mail', () => {
  const part = (id: string, content: Buffer, more = 'Content-Disposition: inline') => ['--r', `Content-Type: image/png; name="${id}.png"`, 'Content-Transfer-Encoding: base64', `Content-ID: <${id}@x>`, more, '', content.toString('base64')];
  const related = (html: string, ...parts: string[][]) =>
    bytes(['Subject: Tide', 'From: a@example.org', 'MIME-Version: 1.0', 'Content-Type: multipart/related; boundary=r', '', '--r', 'Content-Type: text/html', '', html, ...parts.flat(), '--r--', ''].join('\r\n'));
  const taken = async (mail: Buffer) => (await readEml(mail, options)).attachments?.map(({ name, inline = false }) => [name, inline]);

  test('one that the page does not show, or that was attached, is an attachment however small', async () => {
    const mail = related('<p>See</p><img src="cid:shown@x" width="16" height="16">', part('loose', pngOf(20, 20)), part('shown', pngOf(16, 16), 'Content-Disposition: attachment; filename="shown.png"'), part('bare', pngOf(20, 20), 'X-None: 1'));
    expect(await taken(mail)).toEqual([['loose.png', false], ['shown.png', true], ['bare.png', false]]);
    expect((await readEml(mail, options)).pages[0]!.text).toContain('Attachments: loose.png, shown.png, bare.png');
  });

  test('one that the page shows is kept as a file of the page, but for icons', async () => {
    const html = '<img src="cid:chart@x"><img src="cid:logo@x"><img width=12 height=12 src="cid:tiny%40x"><img src=\'cid:wide@x\' style="width:800px;height:90px"><td background="cid:wall@x">Words';
    const mail = related(html, part('chart', pngOf(640, 480)), part('logo', pngOf(120, 40)), part('tiny', pngOf(900, 900)), part('wide', pngOf(800, 90)), part('wall', pngOf(5, 5)));
    expect(await taken(mail)).toEqual([['chart.png', true], ['wide.png', true]]);
  });

  test('a mail that is only a picture hands it on, and is one to look at', async () => {
    const mail = related('<img src="cid:1@x">', part('1', pngOf(640, 480)));
    const { pages, attachments } = await readEml(mail, options);
    expect(pages[0]).toMatchObject({ text: 'Subject: Tide\nFrom: a@example.org\nAttachments: 1.png', toView: true });
    expect(attachments).toHaveLength(1);
  });

  test('a mail of which the plain text is read is to view as well where its page shows a picture', async () => {
    const page = '--a\r\nContent-Type: text/plain\r\n\r\nSee the chart of the tide.\r\n--a\r\nContent-Type: text/html\r\n\r\n<p>See the chart of the tide.</p><img src="cid:chart@x">\r\n--a--';
    const mail = bytes(['Subject: Tide', 'From: a@example.org', 'MIME-Version: 1.0', 'Content-Type: multipart/related; boundary=r', '', '--r', 'Content-Type: multipart/alternative; boundary=a', '', page, ...part('chart', pngOf(640, 480)), '--r--', ''].join('\r\n'));
    expect((await readEml(mail, options)).pages[0]).toMatchObject({ text: 'Subject: Tide\nFrom: a@example.org\nAttachments: chart.png\n\nSee the chart of the tide.', toView: true });
  });

  test('Outlook hides those of the page: the larger ones are handed on, other hidden parts are not', () => {
    const spec: MsgSpec = {
      subject: 'Tide', from: { name: 'Ava', address: 'ava@example.org' }, to: [], html: '<p>See</p><img src="cid:chart@x"><img src="cid:logo@x">',
      attachments: [
        { name: 'chart.png', bytes: pngOf(640, 480), contentId: 'chart@x', hidden: true },
        { name: 'logo.png', bytes: pngOf(90, 40), contentId: 'logo@x', hidden: true },
        { name: 'part.bin', bytes: bytes('inner'), hidden: true },
        { name: 'plan.png', bytes: pngOf(30, 30) },
      ],
    };
    expect(readMsg(makeMsg(spec), options).attachments?.map(({ name, inline = false }) => [name, inline])).toEqual([['chart.png', true], ['plan.png', false]]);
  });

  test('the copy prints those that fit on a page, and nothing that is no picture', () => {
    const html = Buffer.from(printableMail('Subject: x\n\nWords', [pngOf(1_200, 300), bytes('<script>'), pngOf(0, 5), pngOf(50_000, 50_000)])).toString();
    expect(html.match(/<img[^>]*?src="data:image\/[a-z]+/g)).toEqual(['<img width="600" height="150" src="data:image/png']);
    expect(html).not.toContain('script');
  });

  test('more attachments than a mail may have are left out and said', async () => {
    const mail = related('<p>x</p>', ...Array.from({ length: 1_003 }, (_, at) => part(`p${at}`, pngOf(20, 20), 'X-None: 1')));
    const { attachments, notices } = await readEml(mail, options);
    expect(attachments).toHaveLength(1_000);
    expect(notices).toEqual(['3 of its attachments were left out: at most 1,000 are taken out of a mail']);
    expect((await readEml(related('<p>x</p>'), options)).notices).toBeUndefined();
  });
});

describe('zip', () => {
  const names = (files: Record<string, string>) => unpackArchive(zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, bytes(text)]))), { maxUnpackedBytes: 1e6 }).entries.map(({ path }) => path);

  test('names cannot leave the folder, litter is left out, equal names are told apart', () => {
    expect(names({ '../../etc/x': '1', '/abs/y': '2', '..\\..\\w.txt': '3', 'C:\\z.txt': '4', '__MACOSX/._a': '', '.DS_Store': '', 'docs/': '', 'a/b.txt': '5' })).toEqual(['etc/x', 'abs/y', 'w.txt', 'z.txt', 'a/b.txt']);
    expect(names({ 'a.txt': '1', 'A.txt': '2', './a.txt': '3' })).toEqual(['a.txt', 'A (2).txt', 'a (3).txt']);
    expect(cleanPath('in\u202evoice\u0000.pdf')).toBe('invoice.pdf');
    expect(Buffer.byteLength(cleanPath(`${'ä'.repeat(300)}.pdf`))).toBeLessThanOrEqual(255);
    expect(cleanPath('../..')).toBe('file');
  });

  test('links and locked files are left out and said; the archive lists its files', () => {
    const made = zipSync({ link: [bytes('/etc/passwd'), { os: 3, attrs: (0o120777 << 16) >>> 0 }], 'a.txt': bytes('words') });
    const archive = unpackArchive(made, { maxUnpackedBytes: 1e6 });
    expect(archive.entries.map(({ path }) => path)).toEqual(['a.txt']);
    expect(archive.notices).toEqual(['1 of its entries are links to other places and were left out']);
    const listed = readArchive(made, options);
    expect(listed.pages[0]!.text).toBe('a.txt');
    expect(Buffer.from(listed.attachments![0]!.bytes).toString()).toBe('words');
  });

  test('limits hold over all files together', () => {
    const archive = unpackArchive(zipSync({ a: new Uint8Array(700_000), b: new Uint8Array(700_000) }), { maxUnpackedBytes: 1_000_000 });
    expect(archive.entries[0]!.bytes.length).toBe(700_000);
    expect(() => archive.entries[1]!.bytes).toThrow(/Too large to read: it unpacks to more than/);
    expect(() => unpackArchive(zipSync({}), { maxUnpackedBytes: 1 })).toThrow('The archive holds no files');
  });
});

test('a mail that does not say which encoding it is in', async () => {
  const raw = (text: string, encoding: string) => readEml(iconv.encode(`From: a@example.org\r\nTo: b@example.org\r\nSubject: ${text.slice(0, 12)}\r\n\r\n${text}\r\n`, encoding), options);
  for (const [text, encoding] of [['Größere Mengen Öl für München', 'windows-1252'], ['Größere Mengen Öl für München', 'utf8'], ['Съешь же ещё этих мягких булок', 'koi8-r'], ['これは日本語の文書です。', 'shift_jis']] as const) {
    const { text: read } = (await raw(text, encoding)).pages[0]!;
    expect(read, encoding).toBe(`Subject: ${text.slice(0, 12).trim()}\nFrom: a@example.org\nTo: b@example.org\n\n${text}`);
  }
});

describe('Outlook messages', () => {
  const mail = { subject: 'Tide tables', from: { name: 'Ava Bennett', address: 'ava@example.org' }, to: [{ name: 'Ben Ode', address: 'ben@example.org' }, { name: 'Zoë', address: 'zoe@example.org' }] };
  const read = (more: Partial<MsgSpec>) => readMsg(makeMsg({ ...mail, ...more }), options);
  const head = 'Subject: Tide tables\nFrom: Ava Bennett <ava@example.org>\nTo: Ben Ode <ben@example.org>, Zoë <zoe@example.org>';

  test('plain text keeps its links, attachments become files', () => {
    const result = read({ body: 'See the table <https://tides.example.org/2026?port=7&day=1> today.\r\nAva', attachments: [{ name: 'Tide ⚓ table.txt', bytes: Buffer.from('noon') }, { name: 'large.bin', bytes: Buffer.alloc(9_000, 7) }] });
    expect(result.pages[0]!.text).toBe(`${head}\nAttachments: Tide ⚓ table.txt, large.bin\n\nSee the table <https://tides.example.org/2026?port=7&day=1> today.\nAva`);
    expect(result.attachments?.map(({ name, bytes }) => [name, bytes.length, bytes[0]])).toEqual([['Tide ⚓ table.txt', 4, 110], ['large.bin', 9_000, 7]]);
  });

  test('a web page is read as one: the words of its links', () => {
    const html = '<html><head><meta charset="utf-8"><style>p {color: red}</style></head><body><h1>Tides</h1><p>See <a href="https://tides.example.org">the table für Köln</a> &amp; more.</p><table><tr><td>noon</td><td>2.1 m</td></tr></table></body></html>';
    expect(read({ html }).pages[0]!.text).toBe(`${head}\n\nTides\n\nSee the table für Köln & more.\n\nnoon | 2.1 m`);
  });

  test('a mail in RTF alone: text, other alphabets, and links with where they lead', () => {
    const rtf = String.raw`{\rtf1\ansi\ansicpg1251\deff0{\fonttbl{\f0\fswiss Arial;}}{\colortbl ;\red255\green0\blue0;}{\*\generator Riched20;}\pard\f0 Dear Ben,\par see {\field{\*\fldinst{HYPERLINK "https://tides.example.org/a?b=1"}}{\fldrslt{\ul the table}}} and {\field{\*\fldinst HYPERLINK "https://b.example.org"}{\fldrslt https://b.example.org}}.\par \'cf\'f0\'e8\'e2\'e5\'f2 \u8364? 5 \{x\}\line Ava\rquote s\par}`;
    expect(read({ rtf }).pages[0]!.text).toBe(`${head}\n\nDear Ben,\nsee the table <https://tides.example.org/a?b=1> and https://b.example.org.\nПривет € 5 {x}\nAva’s`);
  });

  test('a web page wrapped into RTF is unwrapped', () => {
    const rtf = String.raw`{\rtf1\ansi\ansicpg1252\fromhtml1 \deff0{\fonttbl{\f0 Arial;}}{\*\htmltag64 <html>}{\*\htmltag64 <body>}{\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 See {\*\htmltag84 <a href="https://tides.example.org">}\htmlrtf {\ul noise\htmlrtf0 the table f\'fcr{\*\htmltag84 &nbsp;}today\htmlrtf }\htmlrtf0 {\*\htmltag92 </a>} if 1 < 2.\htmlrtf\par}\htmlrtf0{\*\htmltag72 </p>}{\*\htmltag58 </body>}}`;
    expect(read({ rtf }).pages[0]!.text.replaceAll('\u00a0', ' ')).toBe(`${head}\n\nSee the table für today if 1 < 2.`);
  });

  test('an RTF body that lies about its size is left out', () => {
    const whole = makeMsg({ ...mail, rtf: String.raw`{\rtf1 ${'words '.repeat(1_000)}}` });
    const at = whole.indexOf('MELA');
    whole.writeUInt32LE(0x7fffffff, at - 8);
    whole.writeUInt32LE(0x7fffffff, at - 4);
    expect(readMsg(whole, options).pages[0]!.text).toBe(head);
  });
});

describe.skipIf(!hasShared('corpus', 'reading the web, book and mail files of the corpus'))('corpus', () => {
  const corpus = (name: string) => readFileSync(sharedPath(`corpus/${name}`));
  test('real files', async () => {
    const duck = readHtml(corpus('html-wikipedia-duck.html'), options);
    expect(duck.pages.flatMap((page) => page.sections ?? []).map(({ title }) => title)).toEqual(expect.arrayContaining(['Etymology', 'Taxonomy', 'External links']));
    expect(duck.pages.map((page) => page.text).join('\n')).toContain('Kingdom: | Animalia');
    expect(readEpub(corpus('epub-purvis-poetry.epub'), options).pages).toHaveLength(5);
    expect(readMsg(corpus('msg-chinese.msg'), options).pages[0]!.text).toContain('恭喜 HQ 保全課');
    expect((await readEml(corpus('eml-attachment.eml'), options)).attachments?.map(({ name }) => name)).toEqual(['test.txt']);
  });
});
