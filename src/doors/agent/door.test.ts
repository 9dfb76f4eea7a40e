import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../audit/types.ts';
import { cleanEndUser } from '../../audit/wording.ts';
import { AppError } from '../../errors.ts';
import { callTool, createAgentApp, post, sentenceOf } from '../../../test/mcp/agent-client.ts';
import { createFakePorts, type FakeDocument, type FakeLibrary } from '../../../test/mcp/fake-library.ts';
import { createSampleLibrary, DESCRIPTION } from '../../../test/mcp/sample-library.ts';

const documents: FakeDocument[] = [
  {
    id: 'xM5gW8NZ',
    name: 'deck.pptx',
    folder: 3,
    pages: Array.from({ length: 20 }, (_, at) => ({ text: `wind ${at} ${'x'.repeat(2000)}` })),
  },
  { id: 'dArXTFR7', name: 'short.txt', folder: 2, pages: [{ text: 'sun' }] },
  { id: 'sEcrEt00', name: 'secret.pdf', folder: 4, pages: [{ text: 'hidden' }] },
];

async function start(change: Partial<FakeLibrary['key']> = {}, folders: FakeLibrary['folders'] = []) {
  const library = createSampleLibrary(documents, change);
  library.folders.push(...folders);
  const fake = createFakePorts(library);
  return { ...fake, app: await createAgentApp(fake.ports) };
}

describe('what the door says about itself', () => {
  it('carries the name and description of the key', async () => {
    const { app } = await start({ name: 'legal-2026', description: 'Contracts\nof the \u202Eyear' });
    const { result } = (await post(app, 'initialize', { protocolVersion: '2025-11-25' })).json();
    expect(result.serverInfo).toEqual({
      description: 'Contracts of the year',
      name: 'legal-2026',
      title: 'legal-2026',
      version: '0.6.0',
    });
    expect(result.instructions.split('\n')).toEqual([
      'legal-2026 — a document store you can search.',
      'Contracts of the year',
      expect.stringMatching(/^Use `search` first; .* — it costs more tokens than text\.$/),
    ]);
    const tools = (await post(app, 'tools/list', {})).json().result.tools as { name: string; description: string }[];
    expect(tools.map((tool) => tool.name)).toEqual(['search', 'list_documents', 'read_document', 'view_page']);
    expect(tools[0]!.description).toMatch(/^Search legal-2026: Contracts of the year\. Returns the best-matching/);
    for (const tool of tools) expect(tool.description).toContain('legal-2026');
  });

  it('ends a description with one full stop', async () => {
    const opening = async (description: string) => {
      const { app } = await start({ description });
      return ((await post(app, 'tools/list', {})).json().result.tools[0].description as string).split(' Returns')[0];
    };
    expect(await opening('All contracts.')).toBe('Search energy-outlooks: All contracts.');
    expect(await opening(DESCRIPTION)).toBe(`Search energy-outlooks: ${DESCRIPTION}.`);
    expect(await opening('')).toBe('Search energy-outlooks.');
  });

  it('names up to twenty folders, then …', async () => {
    const folders = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ ref: 100 + at, name: `Folder ${at + 1}`, parent: 1 }));
    const describe = async (count: number) => {
      const { app } = await start({ folders: folders(count).map((folder) => folder.ref) }, folders(count));
      const { tools } = (await post(app, 'tools/list', {})).json().result;
      return [0, 1].map((at) => tools[at].inputSchema.properties.folders.description as string);
    };
    const names = (count: number) =>
      folders(count)
        .map((folder) => folder.name)
        .join(', ');
    expect(await describe(20)).toEqual(
      ['search', 'list'].map(
        (verb) => `Only ${verb} these folders, by name: ${names(20)} — or any folder inside them, by its own name`,
      ),
    );
    expect(await describe(21)).toEqual(
      ['search', 'list'].map(
        (verb) => `Only ${verb} these folders, by name: ${names(20)}, … — or any folder inside them, by its own name`,
      ),
    );
  });

  it('says that a key of single files has no folders', async () => {
    const { app } = await start({ folders: [], documents: ['sEcrEt00'] });
    const { tools } = (await post(app, 'tools/list', {})).json().result;
    for (const at of [0, 1])
      expect(tools[at].inputSchema.properties.folders.description).toBe(
        'This key reads single files, not folders — leave this out.',
      );
  });

  it('answers an unknown tool by one sentence', async () => {
    const { app } = await start();
    for (const name of ['summarize', '__proto__', 'constructor', ''])
      expect(sentenceOf(await callTool(app, name, {}))).toEqual([`No tool named '${name}'.`, true]);
    const [long] = sentenceOf(await callTool(app, `\n\u202E${'x'.repeat(10_000)}`, {}));
    expect(long.length).toBeLessThan(150);
  });
});

describe('before MCP starts', () => {
  it('answers what authentication refuses as HTTP, in the two fields of the reference', async () => {
    const { ports } = await start();
    const refusals: [ConstructorParameters<typeof AppError>, number][] = [
      [['no_auth', 'MCP takes an agent key (sgk_s_…) in the Authorization header'], 401],
      [['bad_key', 'This key is not valid here'], 401],
      [['personal_key', 'Personal keys work with the API only'], 403],
      [['external_key', 'External keys work with /api/external only'], 403],
    ];
    for (const [refusal, status] of refusals) {
      const app = await createAgentApp({
        ...ports,
        authenticate: async () => Promise.reject(new AppError(...refusal)),
      });
      const answer = await post(app, 'tools/list', {});
      expect([answer.statusCode, answer.json()]).toEqual([status, { code: refusal[0], message: refusal[1] }]);
    }
  });

  it('hands every credential on as it came', async () => {
    const { ports } = await start();
    const seen: unknown[] = [];
    const app = await createAgentApp({
      ...ports,
      authenticate: async (credentials) => {
        seen.push(credentials);
        throw new AppError('no_auth', 'No');
      },
    });
    await post(app, 'ping', {}, { authorization: 'bearer\tx ' });
    await post(
      app,
      'ping',
      {},
      { authorization: undefined, 'x-api-key': 'sgk_x_1', 'x-sergo-end-user': Buffer.from('Zoë').toString('latin1') },
    );
    expect(seen).toMatchObject([
      { authorization: expect.stringMatching(/^bearer\tx ?$/), xApiKey: undefined },
      { authorization: undefined, xApiKey: 'sgk_x_1', endUser: 'Zoë' },
    ]);
  });
});

describe('the audit log', () => {
  it('says of a call that was given up that it was, before the answer, and nothing of what its tool comes to later', async () => {
    const { ports, audit } = createFakePorts(createSampleLibrary(documents));
    const SENTENCE = 'This took longer than 0.1 seconds and was stopped — try again or ask for less';
    let release: () => void = () => undefined;
    let seen: AbortSignal | undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const search: typeof ports.search = async (scope, request, signal) => {
      seen = signal;
      await held;
      return ports.search(scope, request, signal);
    };
    const limits = { callLimitMs: 100 };
    const app = await createAgentApp({ ...ports, search }, undefined, limits);
    expect(sentenceOf(await callTool(app, 'search', { query: 'wind' }))).toEqual([SENTENCE, true]);
    expect(seen?.aborted).toBe(true);
    const entries = [{ action: 'mcp search', outcome: 'error', detail: `wind — ${SENTENCE}` }];
    expect(audit).toMatchObject(entries);
    release();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(audit).toHaveLength(1);
    expect(audit).toMatchObject(entries);

    // A tool that throws what is our fault, late, is no second entry either.
    const broken = await createAgentApp({ ...ports, search: () => new Promise((_, reject) => setTimeout(reject, 200, new Error('broken'))) }, undefined, limits);
    expect(sentenceOf(await callTool(broken, 'search', { query: 'sun' }))).toEqual([SENTENCE, true]);
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(audit.map(({ outcome }) => outcome)).toEqual(['error', 'error']);
  });

  it('lets an answer go that only waits for its entry when the time is up, and none whose entry cannot be written', async () => {
    const { ports, audit } = createFakePorts(createSampleLibrary(documents));
    const slow = {
      record: async (entry: AuditEntry) => {
        await new Promise((resolve) => setTimeout(resolve, 200));
        return ports.audit.record(entry);
      },
    };
    const limits = { callLimitMs: 100 };
    expect((await callTool(await createAgentApp({ ...ports, audit: slow }, undefined, limits), 'list_documents', {})).isError).toBe(false);
    expect(audit).toMatchObject([{ action: 'mcp listing', outcome: 'ok' }]);
    const full = { record: () => Promise.reject(new Error('database or disk is full')) };
    const stuck = await createAgentApp({ ...ports, audit: full, listDocuments: () => new Promise(() => undefined) }, undefined, limits);
    expect(sentenceOf(await callTool(stuck, 'list_documents', {}))).toEqual(['An internal error occurred while executing this tool', true]);
  });

  it('has one entry a call, in the reference’s wording', async () => {
    const { app, audit } = await start();
    await callTool(app, 'search', { query: 'wind power', limit: 4 });
    await callTool(app, 'search', { query: 'sun', offset: 0 });
    await callTool(app, 'list_documents', {});
    await callTool(app, 'list_documents', { folders: ['Basic', 'Energy outlooks'] });
    await callTool(app, 'read_document', { document_id: 'xM5gW8NZ', page: 18 });
    await callTool(app, 'read_document', { document_id: 'dArXTFR7' });
    await callTool(app, 'read_document', { document_id: 'xM5gW8NZ' });
    await callTool(app, 'read_document', { document_id: 'xM5gW8NZ', page: 17, to_page: 99 });
    await callTool(app, 'view_page', { document_id: 'xM5gW8NZ', page: 18, format: 'pdf' });
    expect(audit.map(({ action, detail, outcome, object }) => [action, detail, outcome, object?.id])).toEqual([
      ['mcp search', 'wind power — 2 results', 'ok', undefined],
      ['mcp search', 'sun — 1 result, from 0', 'ok', undefined],
      ['mcp listing', 'whole scope — 2 documents', 'ok', undefined],
      ['mcp listing', 'Basic, Energy outlooks — 2 documents', 'ok', undefined],
      ['mcp text read', 'deck.pptx, page 18', 'ok', 'xM5gW8NZ'],
      ['mcp text read', 'short.txt, all pages', 'ok', 'dArXTFR7'],
      ['mcp text read', 'deck.pptx, pages 1-11 of 20', 'ok', 'xM5gW8NZ'],
      ['mcp text read', 'deck.pptx, pages 17-20 of 20', 'ok', 'xM5gW8NZ'],
      ['mcp page viewed', 'deck.pptx, page 18, pdf', 'ok', 'xM5gW8NZ'],
    ]);
  });

  it('has what failed and what was denied as well', async () => {
    const { app, audit } = await start();
    await callTool(app, 'search', { query: 'wind', limit: 99 });
    await callTool(app, 'search', { query: 'wind', folders: ['Private'] });
    await callTool(app, 'read_document', { document_id: 'sEcrEt00' });
    await callTool(app, 'read_document', { document_id: 'unknown0' });
    await callTool(app, 'view_page', { document_id: 'xM5gW8NZ', page: 13 });
    await callTool(app, 'summarize', {});
    expect(audit.map(({ action, detail, outcome, object }) => [action, detail, outcome, object?.id])).toEqual([
      ['mcp search', '`limit` must be a whole number from 1 to 20', 'error', undefined],
      [
        'mcp search',
        "wind — No folder named 'Private' here. Use one of: Energy outlooks — or a folder inside them: Basic",
        'error',
        undefined,
      ],
      ['mcp refused', 'read_document — no such document', 'denied', 'sEcrEt00'],
      ['mcp refused', 'read_document — no such document', 'denied', 'unknown0'],
      [
        'mcp page viewed',
        'deck.pptx, page 13, image — This page could not be drawn — the file is damaged there',
        'error',
        'xM5gW8NZ',
      ],
      ['mcp refused', 'summarize — no such tool', 'error', undefined],
    ]);
  });

  it('has nothing for listing tools or saying hello', async () => {
    const { app, audit } = await start();
    await post(app, 'initialize', { protocolVersion: '2025-06-18' });
    await post(app, 'ping', {});
    await post(app, 'tools/list', {});
    expect(audit).toEqual([]);
  });

  it('names the person the agent acts for, and the request', async () => {
    const { app, audit } = await start();
    const header = Buffer.from('Zoë Müller').toString('latin1');
    await callTool(app, 'list_documents', {}, { 'x-sergo-end-user': header });
    await callTool(app, 'list_documents', {}, { 'x-insight-end-user': 'old name' });
    await callTool(app, 'list_documents', {}, { 'x-sergo-end-user': 'x'.repeat(10_000) });
    await callTool(app, 'list_documents', {});
    const actors = audit.map((entry) => entry.actor);
    expect(actors.map((actor) => ('endUser' in actor ? actor.endUser?.slice(0, 20) : undefined))).toEqual([
      'Zoë Müller',
      'old name',
      'x'.repeat(20),
      undefined,
    ]);
    expect(
      actors.every(
        (actor) => actor.requestId !== '' && actor.kind === 'agent_key' && actor.key.masked === 'sgk_s_…wNGk',
      ),
    ).toBe(true);
    // The log itself cuts and escapes.
    expect(cleanEndUser('x'.repeat(10_000))).toHaveLength(256);
    expect(cleanEndUser('a\u001b[31m\tb')).toBe('a\\u{1b}[31m\\tb');
  });

  it('keeps room for what came of a long question', async () => {
    const { app, audit } = await start();
    await callTool(app, 'search', { query: 'zebra '.repeat(500) });
    expect(audit[0]!.detail).toMatch(/^zebra .{380,400}… — 0 results$/);
  });

  it('is written before the answer leaves: no entry, no answer', async () => {
    const { ports } = await start();
    let written = 0;
    const slow = {
      record: async () => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        written += 1;
      },
    };
    await callTool(await createAgentApp({ ...ports, audit: slow }), 'search', { query: 'wind' });
    expect(written).toBe(1);

    const broken = await createAgentApp({
      ...ports,
      audit: { record: async () => Promise.reject(new Error('database or disk is full')) },
    });
    const calls: [string, object][] = [
      ['search', { query: 'wind' }],
      ['list_documents', {}],
      ['read_document', { document_id: 'xM5gW8NZ' }],
      ['read_document', { document_id: 'sEcrEt00' }],
      ['view_page', { document_id: 'xM5gW8NZ', page: 1 }],
      ['summarize', {}],
    ];
    for (const [name, args] of calls)
      expect(sentenceOf(await callTool(broken, name, args))).toEqual([
        'An internal error occurred while executing this tool',
        true,
      ]);
  });

  it('records our own faults without their cause', async () => {
    const { ports, audit } = await start();
    const app = await createAgentApp({
      ...ports,
      search: async () => Promise.reject(new Error('SQLITE_IOERR /data/library.db')),
    });
    expect(sentenceOf(await callTool(app, 'search', { query: 'wind' }))).toEqual([
      'An internal error occurred while executing this tool',
      true,
    ]);
    expect(audit).toMatchObject([{ action: 'mcp search', outcome: 'error', detail: 'wind — internal error' }]);
  });
});
