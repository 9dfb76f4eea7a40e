import { describe, expect, it } from 'vitest';
import { callTool, createAgentApp, jsonOf, sentenceOf } from '../../../test/mcp/agent-client.ts';
import { createFakePorts, type FakeDocument } from '../../../test/mcp/fake-library.ts';
import { createSampleLibrary } from '../../../test/mcp/sample-library.ts';

const NOT_FOUND = 'Not found, or not yours to see — the two are deliberately indistinguishable';

function makeDocument(texts: string[], more: Partial<FakeDocument> = {}): FakeDocument {
  return {
    id: 'xM5gW8NZ',
    name: 'deck.pptx',
    folder: 3,
    type: 'pptx',
    pages: texts.map((text) => ({ text, toView: text === '' })),
    ...more,
  };
}

async function start(document: FakeDocument) {
  const fake = createFakePorts(createSampleLibrary([document]));
  const app = await createAgentApp(fake.ports);
  return { ...fake, read: (args: object = {}) => callTool(app, 'read_document', { document_id: 'xM5gW8NZ', ...args }) };
}

describe('read_document of a whole document', () => {
  it('joins the pages with a blank line and leaves empty ones out', async () => {
    const { read } = await start(makeDocument(['one', '', 'three']));
    const answer = jsonOf(await read());
    expect(answer).toEqual({
      document: 'deck.pptx',
      folder: "Ava Bennett's documents/Energy outlooks/Basic",
      pages: 3,
      pages_to_view: [2],
      text: 'one\n\nthree',
    });
    expect(Object.keys(answer)).toEqual(['document', 'folder', 'pages', 'pages_to_view', 'text']);
  });

  it('puts whole pages in until 24,000 characters and says what is left', async () => {
    const { read } = await start(
      makeDocument(Array.from({ length: 30 }, (_, at) => `${at + 1} ${'x'.repeat(1400 - String(at + 1).length - 1)}`)),
    );
    const answer = jsonOf(await read());
    expect([answer.pages_read, answer.more]).toEqual(['1-17', 'Pages 18-30 not included — ask for a page to read on']);
    expect(answer.text).toHaveLength(17 * 1400 + 16 * 2);
    expect(Object.keys(answer)).toEqual(['document', 'folder', 'pages', 'pages_read', 'more', 'text']);
  });

  it('fits exactly 24,000 and not one more', async () => {
    const exact = ['a'.repeat(12_000), 'b'.repeat(11_998)];
    expect(jsonOf(await (await start(makeDocument(exact))).read())).not.toHaveProperty('more');
    const over = jsonOf(await (await start(makeDocument([...exact.slice(0, 1), 'b'.repeat(11_999)]))).read());
    expect([over.pages_read, over.more, over.text.length]).toEqual([
      '1',
      'Page 2 not included — ask for a page to read on',
      12_000,
    ]);
  });

  it('reads no more pages than it hands out', async () => {
    const { read, reads } = await start(makeDocument(Array.from({ length: 2000 }, () => 'x'.repeat(3000))));
    expect(jsonOf(await read()).pages_read).toBe('1-7');
    expect(reads).toEqual(['1-16']);
  });

  it('cuts a first page that is too long, at a grapheme', async () => {
    const { read } = await start(makeDocument(['👨‍👩‍👧‍👦'.repeat(3000), 'two', 'three']));
    const answer = jsonOf(await read());
    expect(answer.pages_read).toBe('1');
    expect(answer.more).toBe(
      'Page 1 is longer than 24,000 characters — the rest of it is not included. Pages 2-3 not included — ask for a page to read on',
    );
    expect(answer.text).toBe('👨‍👩‍👧‍👦'.repeat(Math.floor(24_000 / 11)));
  });

  it('says when there is no text, or none yet', async () => {
    expect(jsonOf(await (await start(makeDocument(['', '']))).read()).text).toBe('(no text in this document)');
    const waiting = jsonOf(await (await start(makeDocument([], { pages: null, status: 'processing' }))).read());
    expect(waiting).toEqual({
      document: 'deck.pptx',
      folder: "Ava Bennett's documents/Energy outlooks/Basic",
      status: 'processing',
      text: '(no text in this document)',
    });
    const unread = await start(makeDocument([], { pages: null, status: 'processing' }));
    expect(sentenceOf(await unread.read({ page: 1 }))).toEqual(['This document is still being read — try again in a moment', true]);
  });
});

describe('read_document of one page', () => {
  it('says when view_page may help, and when pages are estimates', async () => {
    const { read } = await start(
      makeDocument(['one', 'two'], { pages: [{ text: 'one', toView: true }, { text: 'two' }], pagesEstimated: true }),
    );
    const marked = jsonOf(await read({ page: 1 }));
    expect(marked).toMatchObject({
      page: 1,
      pages: 2,
      pages_estimated: true,
      pages_to_view: [1],
      view_page_may_help: "This page's text may miss a figure, chart or table — `view_page` shows it",
      text: 'one',
    });
    expect(jsonOf(await read({ page: 2 }))).not.toHaveProperty('view_page_may_help');
  });

  it('says when there is nothing on it', async () => {
    const { read } = await start(makeDocument(['', ' \n ']));
    expect(jsonOf(await read({ page: 1 })).text).toBe('(nothing on this page)');
    expect(jsonOf(await read({ page: 2 })).text).toBe('(nothing on this page)');
  });

  it('cuts one longer than 24,000 at a grapheme and says so', async () => {
    const { read } = await start(makeDocument([`${'x'.repeat(23_999)}e\u0301 and on`]));
    const answer = jsonOf(await read({ page: 1 }));
    expect(answer.text).toBe('x'.repeat(23_999));
    expect(answer.more).toBe('Page 1 is longer than 24,000 characters — the rest of it is not included');
  });
});

describe('read_document of a range', () => {
  it('heads each page and stops at the last one', async () => {
    const pages = [{ text: 'one', toView: true }, { text: '', toView: true }, { text: '' }, { text: 'four' }];
    const { read } = await start(makeDocument([], { pages }));
    const answer = jsonOf(await read({ page: 1, to_page: 99 }));
    expect(answer.pages_read).toBe('1-4');
    expect(answer).not.toHaveProperty('more');
    expect(answer.text).toBe(
      [
        '--- page 1 (view_page may help — the text may miss a figure, chart or table) ---\none',
        '--- page 2 (no text, only a picture — view_page shows it) ---',
        '--- page 3 ---\n(nothing on this page)',
        '--- page 4 ---\nfour',
      ].join('\n\n'),
    );
    expect(jsonOf(await read({ page: 4, to_page: 4 })).pages_read).toBe('4');
  });

  it('stops at 24,000 characters, headings counted, and names what it left out', async () => {
    const { read } = await start(makeDocument(Array.from({ length: 40 }, () => 'x'.repeat(1180))));
    const answer = jsonOf(await read({ page: 11, to_page: 40 }));
    expect([answer.pages_read, answer.more]).toEqual(['11-30', 'Pages 31-40 not included — ask for them']);
    expect(answer.text.length).toBeLessThanOrEqual(24_000);
    expect(jsonOf(await read({ page: 11, to_page: 31 })).more).toBe('Page 31 not included — ask for it');
  });

  it('refuses a range that is none', async () => {
    const { read } = await start(makeDocument(['one']));
    expect(sentenceOf(await read({ page: 3, to_page: 2 }))).toEqual(['`to_page` must not be before `page`', true]);
    expect(sentenceOf(await read({ to_page: 2 }))).toEqual(['`to_page` needs `page`, the first page to read', true]);
  });
});

describe('read_document', () => {
  it('counts the pages for who asks past the end', async () => {
    const { read } = await start(makeDocument(Array(27).fill('x')));
    expect(sentenceOf(await read({ page: 28 }))).toEqual(['This document has 27 pages', true]);
    expect(sentenceOf(await read({ page: 99, to_page: 100 }))).toEqual(['This document has 27 pages', true]);
    expect(sentenceOf(await (await start(makeDocument(['x']))).read({ page: 2 }))).toEqual([
      'This document has 1 page',
      true,
    ]);
  });

  it.each([0, -1, 1.5, '1', [], 1e300])('refuses the page %j', async (page) => {
    const { read } = await start(makeDocument(['x']));
    expect(sentenceOf(await read({ page }))).toEqual(['`page` must be a whole number, 1 or more', true]);
  });

  it('answers unknown, malformed and foreign ids alike', async () => {
    const { read } = await start(makeDocument(['x'], { folder: 4 }));
    for (const id of [
      'xM5gW8NZ',
      'zzzzzzzz',
      '',
      '../../etc/passwd',
      '\u0000',
      'x'.repeat(100_000),
      '😀',
      '__proto__',
    ]) {
      expect(sentenceOf(await read({ document_id: id }))).toEqual([NOT_FOUND, true]);
    }
    for (const id of [undefined, null, 5, {}]) {
      expect(sentenceOf(await read({ document_id: id }))).toEqual([
        'Give a `document_id` from `search` or `list_documents`',
        true,
      ]);
    }
    expect(sentenceOf(await read({ documentId: 'xM5gW8NZ' }))).toEqual(['Use `document_id`, not `documentId`', true]);
  });
});
