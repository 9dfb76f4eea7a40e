import { describe, expect, it } from 'vitest';
import { callTool, createAgentApp, jsonOf, sentenceOf } from '../../../test/mcp/agent-client.ts';
import { createFakePorts, type FakeDocument, type FakeLibrary } from '../../../test/mcp/fake-library.ts';
import { createSampleLibrary } from '../../../test/mcp/sample-library.ts';

const page = (text: string, toView = false) => ({ text, toView });

const documents: FakeDocument[] = [
  {
    id: 'aaaaaaaa',
    name: 'long.pdf',
    folder: 2,
    pages: Array.from({ length: 12 }, (_, at) => page(`Wind power, page ${at + 1}`)),
  },
  {
    id: 'bbbbbbbb',
    name: 'short.pptx',
    folder: 3,
    pages: [page('Wind and sun', true), page('', true), page('Nothing')],
  },
  {
    id: 'cccccccc',
    name: 'letter.docx',
    folder: 3,
    pages: [{ text: 'The wind fell', section: 'Weather\nreport' }],
    pagesEstimated: true,
  },
  { id: 'dddddddd', name: 'secret.pdf', folder: 4, pages: [page('Wind of the canary')] },
];

async function start(change: Partial<FakeLibrary['key']> = {}) {
  const fake = createFakePorts(createSampleLibrary(documents, change));
  const app = await createAgentApp(fake.ports);
  return { ...fake, search: (args: unknown) => callTool(app, 'search', args) };
}

describe('search', () => {
  it('groups excerpts by document and says only what there is to say', async () => {
    const { search } = await start();
    const result = await search({ query: 'wind', limit: 20, folders: ['Basic'] });
    expect(result.content).toHaveLength(1);
    expect(jsonOf(result)).toEqual([
      {
        document_id: 'bbbbbbbb',
        document: 'short.pptx',
        folder: "Ava Bennett's documents/Energy outlooks/Basic",
        image_only_pages: [2],
        hits: [{ page: 1, view_page_may_help: true, excerpt: 'Wind and sun' }],
      },
      {
        document_id: 'cccccccc',
        document: 'letter.docx',
        folder: "Ava Bennett's documents/Energy outlooks/Basic",
        pages_estimated: true,
        hits: [{ section: 'Weather report', excerpt: 'The wind fell' }],
      },
    ]);
  });

  it('walks through all excerpts by the offsets it names, none twice', async () => {
    const { search } = await start();
    const seen: string[] = [];
    let offset = 0;
    for (let turn = 0; turn < 10; turn++) {
      const result = await search({ query: 'wind', limit: 4, offset });
      for (const document of jsonOf(result)) {
        expect(document.hits.length).toBeLessThanOrEqual(2);
        for (const hit of document.hits) seen.push(`${document.document_id} ${hit.page ?? hit.section}`);
      }
      const more = result.content[1];
      if (!more) break;
      const next = /^More excerpts past these: search again with offset (\d+)\.$/.exec(
        more.type === 'text' ? more.text : '',
      );
      offset = Number(next![1]);
      expect(offset).toBe(seen.length);
    }
    expect(seen).toHaveLength(14);
    expect(new Set(seen).size).toBe(14);
    expect(sentenceOf(await search({ query: 'wind', limit: 4, offset: 14 }))).toEqual([
      'Nothing past this point.',
      false,
    ]);
  });

  it('never names an offset that it would refuse', async () => {
    const fake = createFakePorts(createSampleLibrary(documents));
    const many = {
      id: 'aaaaaaaa',
      name: 'x',
      folder: 'y',
      pagesEstimated: false,
      imageOnlyPages: [],
      excerpts: [{ page: 1, section: null, toView: false, text: 't' }],
    };
    const app = await createAgentApp({ ...fake.ports, search: async () => ({ documents: [many], nextOffset: 81 }) });
    expect((await callTool(app, 'search', { query: 'wind', offset: 80 })).content).toHaveLength(1);
  });

  it('says when there is nothing', async () => {
    const { search } = await start();
    expect(sentenceOf(await search({ query: 'zebra' }))).toEqual(['Nothing matched.', false]);
    expect(sentenceOf(await search({ query: 'canary' }))).toEqual(['Nothing matched.', false]);
    expect(sentenceOf(await search({ query: 'zebra', offset: 80 }))).toEqual(['Nothing past this point.', false]);
  });

  it.each([undefined, null, '', '   ', '\n\t', '\u0000\u001b', 5, ['wind']])('wants a query, not %j', async (query) => {
    const { search } = await start();
    expect(sentenceOf(await search({ query }))).toEqual(['Give a query to search for.', true]);
  });

  it('names the limit of a query', async () => {
    const { search } = await start();
    expect(sentenceOf(await search({ query: 'w'.repeat(100_000) }))).toEqual([
      'The query is too long — use at most 4,000 characters',
      true,
    ]);
    expect(sentenceOf(await search({ query: 'z'.repeat(4000) }))).toEqual(['Nothing matched.', false]);
  });

  it.each([0, -1, 21, '10', 1e9, 10.5, true, {}])('refuses the limit %j with the range it takes', async (limit) => {
    const { search } = await start();
    expect(sentenceOf(await search({ query: 'wind', limit }))).toEqual([
      '`limit` must be a whole number from 1 to 20',
      true,
    ]);
  });

  it.each([-1, 81, '4', 0.5])('refuses the offset %j', async (offset) => {
    const { search } = await start();
    expect(sentenceOf(await search({ query: 'wind', offset }))).toEqual([
      '`offset` must be a whole number from 0 to 80',
      true,
    ]);
  });

  it('takes null for what was left out, and an empty list for all folders', async () => {
    const { search } = await start();
    const all = await search({ query: 'wind' });
    expect(await search({ query: 'wind', limit: null, offset: null, folders: null })).toEqual(all);
    expect(await search({ query: 'wind', folders: [] })).toEqual(all);
  });

  it('lets keys through that clients add, but not a known one spelt differently', async () => {
    const { search } = await start();
    expect((await search({ query: 'wind', sessionId: 'n8n', toolCallId: 'x' })).isError).toBe(false);
    expect(sentenceOf(await search({ query: 'wind', folder: 'Basic' }))).toEqual(['Use `folders`, not `folder`', true]);
    expect(sentenceOf(await search({ Query: 'wind' }))).toEqual(['Use `query`, not `Query`', true]);
  });

  it('is not harmed by hostile arguments', async () => {
    const { search } = await start();
    for (const args of [null, [], ['wind'], 'wind', 5])
      expect(sentenceOf(await search(args))).toEqual(['Give the arguments as one JSON object', true]);
    expect(
      (await search(JSON.parse('{"query":"wind","__proto__":{"limit":99},"constructor":{"prototype":{"x":1}}}')))
        .isError,
    ).toBe(false);
    expect(({} as Record<string, unknown>).limit).toBeUndefined();
    expect(({} as Record<string, unknown>).x).toBeUndefined();
    for (const query of ['"', 'AND OR NOT', 'NEAR(', '*', "' OR 1=1--", '😀', '\ud800 wind'])
      expect((await search({ query })).isError).toBe(false);
  });

  it('cleans excerpts and names', async () => {
    const dirty: FakeDocument = {
      id: 'eeeeeeee',
      name: 'a\u202Efdp.exe\n',
      folder: 3,
      pages: [page(`dirty \u0007text${String.fromCodePoint(0xe0049)}\u202e\nnext`)],
    };
    const fake = createFakePorts(createSampleLibrary([dirty]));
    const result = jsonOf(await callTool(await createAgentApp(fake.ports), 'search', { query: 'dirty' }));
    expect(result[0].document).toBe('afdp.exe ');
    expect(result[0].hits[0].excerpt).toBe('dirty text\nnext');
  });
});

describe('folders', () => {
  it.each([['Basic'], ['basic'], ['Energy outlooks/Basic'], ["Ava Bennett's documents/Energy outlooks/Basic"]])(
    'takes %j',
    async (name) => {
      const { search } = await start();
      expect(
        jsonOf(await search({ query: 'wind', folders: [name] })).map((one: { document_id: string }) => one.document_id),
      ).toEqual(['bbbbbbbb', 'cccccccc']);
    },
  );

  it('names what can be used when a folder is unknown, the same for one of somebody else', async () => {
    const { search } = await start();
    const sentence = (name: string) =>
      `No folder named '${name}' here. Use one of: Energy outlooks — or a folder inside them: Basic`;
    for (const name of ['IEO2023', 'Private', "Ava Bennett's documents", '', '__proto__']) {
      expect(sentenceOf(await search({ query: 'wind', folders: ['Basic', name] }))).toEqual([sentence(name), true]);
    }
  });

  it('names only the folders when nothing is inside them', async () => {
    const { search } = await start({ folders: [3] });
    expect(sentenceOf(await search({ query: 'wind', folders: ['IEO2023'] }))).toEqual([
      "No folder named 'IEO2023' here. Use one of: Basic",
      true,
    ]);
  });

  it('says so when the key reads single files', async () => {
    const { search } = await start({ folders: [], documents: ['aaaaaaaa'] });
    expect(sentenceOf(await search({ query: 'wind', folders: ['IEO2023'] }))).toEqual([
      "No folder named 'IEO2023' here — this key reads single files, not folders. Leave folders out.",
      true,
    ]);
    expect(jsonOf(await search({ query: 'wind' }))).toHaveLength(1);
  });

  it('echoes a wild name short and harmless', async () => {
    const { search } = await start();
    const [sentence] = sentenceOf(await search({ query: 'wind', folders: [`\u202E\n${'x'.repeat(50_000)}`] }));
    expect(sentence).toBe(
      `No folder named ' ${'x'.repeat(119)}…' here. Use one of: Energy outlooks — or a folder inside them: Basic`,
    );
  });

  it.each([
    ['a string', 'Basic'],
    ['numbers', [1]],
    ['an object', {}],
  ])('refuses %s', async (_what, folders) => {
    const { search } = await start();
    expect(sentenceOf(await search({ query: 'wind', folders }))).toEqual([
      '`folders` must be a list of folder names',
      true,
    ]);
  });

  it('refuses ten thousand names', async () => {
    const { search } = await start();
    expect(sentenceOf(await search({ query: 'wind', folders: Array(10_000).fill('Basic') }))).toEqual([
      '`folders` takes at most 100 names',
      true,
    ]);
  });
});
