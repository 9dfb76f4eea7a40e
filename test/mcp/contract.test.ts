import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hasShared, sharedPath } from '../support/shared.ts';
import { callTool, createAgentApp, post } from './agent-client.ts';
import { createFakePorts, type FakeDocument, type FakeLibrary } from './fake-library.ts';
import { createSampleLibrary } from './sample-library.ts';

const contract = (name: string) => JSON.parse(readFileSync(sharedPath(`contract/${name}.json`), 'utf8'));

interface Hit {
  page: number;
  view_page_may_help?: boolean;
  excerpt: string;
}

/** The reference's two decks, with the pages whose text the contract shows. */
function readContractDecks(): FakeLibrary {
  const found = JSON.parse(contract('search-response').result.content[0].text) as {
    document_id: string;
    hits: Hit[];
  }[];
  const range: string = contract('read-range-result').text;
  const page17 = range.slice(range.indexOf('\n') + 1, range.indexOf('\n\n--- page 18'));
  const documents = (
    contract('list-documents-result').items as {
      document_id: string;
      document: string;
      pages: number;
      pages_to_view: number[];
    }[]
  ).map((item): FakeDocument => {
    const hits = found.find((one) => one.document_id === item.document_id)!.hits;
    const pages = Array.from({ length: item.pages }, (_, at) => ({
      text:
        hits.find((hit) => hit.page === at + 1)?.excerpt ??
        (at + 1 === 17 && item.pages === 27 ? page17 : `Slide ${at + 1}`),
      toView: item.pages_to_view.includes(at + 1),
    }));
    return { id: item.document_id, name: item.document, folder: 3, type: 'pptx', pages };
  });
  // The contract lists the later upload first.
  const library = createSampleLibrary(documents.reverse());
  const hits = found.flatMap((document) => document.hits.map((hit) => ({ id: document.document_id, page: hit.page })));
  return { ...library, ranking: [...hits, { id: 'xM5gW8NZ', page: 1 }] };
}

describe.skipIf(!hasShared('contract/tools-list.json', 'the contract, byte for byte'))('the contract', () => {
  const app = async () => createAgentApp(createFakePorts(readContractDecks()).ports);

  it('lists the tools byte for byte', async () => {
    const answer = await post(await app(), 'tools/list', {});
    expect(JSON.stringify(answer.json().result)).toBe(JSON.stringify(contract('tools-list')));
  });

  it('answers initialize', async () => {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    expect((await post(await app(), 'initialize', params)).body).toBe(JSON.stringify(contract('initialize')));
  });

  it('answers an unknown tool', async () => {
    expect(await callTool(await app(), 'summarize', {})).toEqual(contract('unknown-tool').result);
  });

  it('answers a search', async () => {
    const result = await callTool(await app(), 'search', { query: 'electric vehicle sales in China', limit: 4 });
    expect(result).toEqual(contract('search-response').result);
  });

  it('answers list_documents and read_document without spaces, in the order of the reference', async () => {
    const cases: [string, unknown, string][] = [
      ['list_documents', {}, 'list-documents-result'],
      ['read_document', { document_id: 'xM5gW8NZ', page: 18 }, 'read-page-result'],
      ['read_document', { document_id: 'xM5gW8NZ', page: 17, to_page: 18 }, 'read-range-result'],
    ];
    for (const [tool, args, name] of cases) {
      const result = await callTool(await app(), tool, args);
      expect(result).toEqual({ content: [{ type: 'text', text: JSON.stringify(contract(name)) }], isError: false });
    }
  });
});
