import { describe, expect, it } from 'vitest';
import { callTool, createAgentApp, jsonOf, sentenceOf } from '../../../test/mcp/agent-client.ts';
import { createFakePorts, type FakeDocument, type FakeLibrary } from '../../../test/mcp/fake-library.ts';
import { createSampleLibrary } from '../../../test/mcp/sample-library.ts';

const day = (date: string) => Date.parse(`${date}T23:30:00Z`);
const documents: FakeDocument[] = [
  {
    id: 'aaaaaaaa',
    name: 'old.pdf',
    folder: 2,
    pages: [{ text: 'x' }, { text: '', toView: true }],
    uploadedAt: day('2026-01-02'),
  },
  {
    id: 'bbbbbbbb',
    name: 'new.docx',
    folder: 3,
    type: 'docx',
    pages: [{ text: 'y' }],
    pagesEstimated: true,
    uploadedAt: day('2026-03-04'),
  },
  {
    id: 'cccccccc',
    name: 'waiting.pptx',
    folder: 3,
    type: 'pptx',
    pages: null,
    status: 'processing',
    uploadedAt: day('2026-02-03'),
  },
  { id: 'dddddddd', name: 'broken.pdf', folder: 2, pages: null, status: 'not_indexed', uploadedAt: day('2025-12-31') },
  { id: 'eeeeeeee', name: 'single.txt', folder: 4, type: 'txt', pages: [{ text: 'z' }], uploadedAt: day('2025-01-01') },
];

async function start(change: Partial<FakeLibrary['key']> = {}) {
  const app = await createAgentApp(createFakePorts(createSampleLibrary(documents, change)).ports);
  return (args: unknown) => callTool(app, 'list_documents', args);
}

describe('list_documents', () => {
  it('lists newest first, and says only what there is to say', async () => {
    const list = await start();
    const energy = "Ava Bennett's documents/Energy outlooks";
    expect(jsonOf(await list({}))).toEqual({
      total: 4,
      items: [
        {
          document_id: 'bbbbbbbb',
          document: 'new.docx',
          folder: `${energy}/Basic`,
          type: 'docx',
          pages: 1,
          pages_estimated: true,
          uploaded: '2026-03-04',
        },
        {
          document_id: 'cccccccc',
          document: 'waiting.pptx',
          folder: `${energy}/Basic`,
          type: 'pptx',
          uploaded: '2026-02-03',
          status: 'processing',
        },
        {
          document_id: 'aaaaaaaa',
          document: 'old.pdf',
          folder: energy,
          type: 'pdf',
          pages: 2,
          pages_to_view: [2],
          uploaded: '2026-01-02',
        },
        {
          document_id: 'dddddddd',
          document: 'broken.pdf',
          folder: energy,
          type: 'pdf',
          uploaded: '2025-12-31',
          status: 'not_indexed',
        },
      ],
    });
  });

  it('pages with next_offset until the end', async () => {
    const list = await start();
    const first = jsonOf(await list({ limit: 3 }));
    expect([first.total, first.next_offset, first.items.length]).toEqual([4, 3, 3]);
    const rest = jsonOf(await list({ limit: 3, offset: first.next_offset }));
    expect(['next_offset' in rest, rest.items.length]).toEqual([false, 1]);
    expect(sentenceOf(await list({ offset: 4 }))).toEqual(['Nothing past this point.', false]);
    expect(sentenceOf(await list({ offset: 1e15 }))).toEqual(['Nothing past this point.', false]);
  });

  it('narrows by folder and leaves single files out then', async () => {
    const list = await start({ documents: ['eeeeeeee'] });
    expect(jsonOf(await list({})).total).toBe(5);
    expect(jsonOf(await list({ folders: ['Energy outlooks'] })).total).toBe(4);
    expect(jsonOf(await list({ folders: ['Basic'] })).total).toBe(2);
    expect(sentenceOf(await list({ folders: ['Private'] }))[1]).toBe(true);
  });

  it('says when there is nothing', async () => {
    const list = await start({ folders: [] });
    expect(sentenceOf(await list({}))).toEqual(['No documents here.', false]);
  });

  it.each([
    [{ limit: 0 }, '`limit` must be a whole number from 1 to 100'],
    [{ limit: 101 }, '`limit` must be a whole number from 1 to 100'],
    [{ offset: -1 }, '`offset` must be a whole number, 0 or more'],
    [{ offset: '5' }, '`offset` must be a whole number, 0 or more'],
    [{ folders: 'Basic' }, '`folders` must be a list of folder names'],
  ])('refuses %j', async (args, sentence) => {
    expect(sentenceOf(await (await start())(args))).toEqual([sentence, true]);
  });
});
