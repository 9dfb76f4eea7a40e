import { describe, expect, it } from 'vitest';
import { callTool, createAgentApp, sentenceOf } from '../../../test/mcp/agent-client.ts';
import { createFakePorts, type FakeDocument } from '../../../test/mcp/fake-library.ts';
import { createSampleLibrary } from '../../../test/mcp/sample-library.ts';

async function start(more: Partial<FakeDocument> = {}) {
  const document: FakeDocument = {
    id: 'xM5gW8NZ',
    name: 'deck.pptx',
    folder: 3,
    pages: Array(27).fill({ text: 'x' }),
    ...more,
  };
  const app = await createAgentApp(createFakePorts(createSampleLibrary([document])).ports);
  return (args: object) => callTool(app, 'view_page', { document_id: 'xM5gW8NZ', ...args });
}

describe('view_page', () => {
  it('answers a caption and the picture', async () => {
    expect(await (await start())({ page: 18 })).toEqual({
      content: [
        { type: 'text', text: 'deck.pptx — page 18 of 27' },
        { type: 'image', mimeType: 'image/png', data: Buffer.from('image of xM5gW8NZ page 18').toString('base64') },
      ],
      isError: false,
    });
  });

  it('answers the page as a PDF of its own', async () => {
    const result = await (await start())({ page: 18, format: 'pdf' });
    expect(result.content[1]).toEqual({
      type: 'resource',
      resource: {
        uri: 'sergo://documents/xM5gW8NZ/pages/18.pdf',
        mimeType: 'application/pdf',
        blob: Buffer.from('pdf of xM5gW8NZ page 18').toString('base64'),
      },
    });
  });

  it('says why there is nothing to see', async () => {
    const none =
      'No page view for this file — it was read without a PDF copy. A person can make one in the console (Make a PDF copy).';
    expect(sentenceOf(await (await start({ pageView: 'none' }))({ page: 99 }))).toEqual([none, true]);
    expect(sentenceOf(await (await start({ pageView: 'making' }))({ page: 1 }))).toEqual([
      'The PDF copy of this file is still being made — try again in a moment',
      true,
    ]);
    expect(sentenceOf(await (await start())({ page: 28 }))).toEqual(['This document has 27 pages', true]);
    expect(sentenceOf(await (await start())({ page: 13 }))).toEqual([
      'This page could not be drawn — the file is damaged there',
      true,
    ]);
    expect(sentenceOf(await (await start({ pages: null, status: 'processing' }))({ page: 1 }))).toEqual([
      'This document is still being read — try again in a moment',
      true,
    ]);
    expect(sentenceOf(await (await start({ pages: null, status: 'not_indexed' }))({ page: 1 }))).toEqual([
      'This document could not be read, so it has no pages to show — `list_documents` says what else is here',
      true,
    ]);
    expect(sentenceOf(await (await start({ folder: 4 }))({ page: 1 }))).toEqual([
      'Not found, or not yours to see — the two are deliberately indistinguishable',
      true,
    ]);
  });

  it.each([
    [{}, '`page` must be a whole number, 1 or more'],
    [{ page: 0 }, '`page` must be a whole number, 1 or more'],
    [{ page: 1, format: 'svg' }, '`format` must be image or pdf'],
    [{ page: 1, document_id: 5 }, 'Give a `document_id` from `search` or `list_documents`'],
  ])('refuses %j', async (args, sentence) => {
    expect(sentenceOf(await (await start())(args))).toEqual([sentence, true]);
  });
});
