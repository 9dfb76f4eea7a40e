import { z } from 'zod';
import { readArguments, wholeNumber } from './arguments.ts';
import { chooseScope, describeFolders, folderNames } from './folders.ts';
import type { ListedDocument } from './ports.ts';
import { cleanLine } from './text.ts';
import { answerJson, answerText, shortenForAudit, type AgentTool } from './tool.ts';

const DEFAULT_LIMIT = 50;

const schema = z.object({
  folders: folderNames,
  limit: wholeNumber('limit', 1, 100),
  offset: wholeNumber('offset', 0),
});

export const listDocuments: AgentTool = {
  name: 'list_documents',
  action: 'mcp listing',

  describe: (key, folders) => ({
    name: 'list_documents',
    description:
      `List the documents in ${key.name} — newest first, with the id, name, folder, type, page count and the pages to view ` +
      '(figures or tables the text does not carry) of each. Use it to see what is here without searching, or when a search ' +
      'finds nothing. Documents marked not_indexed have no text to search yet; `pages_estimated` means the page count and ' +
      'numbers are estimates.',
    inputSchema: {
      type: 'object',
      properties: {
        folders: describeFolders('list', folders),
        limit: { type: 'integer', minimum: 1, maximum: 100, default: DEFAULT_LIMIT },
        offset: {
          type: 'integer',
          minimum: 0,
          default: 0,
          description: 'Skip this many — use `next_offset` from the last result',
        },
      },
    },
  }),

  async run(call, args) {
    const given = readArguments(schema, args);
    const limit = given.limit ?? DEFAULT_LIMIT;
    const offset = given.offset ?? 0;
    const asked = given.folders?.length ? shortenForAudit(given.folders.join(', ')) : 'whole scope';
    call.note.detail = asked;
    const { total, items } = await call.ports.listDocuments(await chooseScope(call, given.folders), { limit, offset });
    call.note.detail = `${asked} — ${total} ${total === 1 ? 'document' : 'documents'}`;
    if (items.length === 0) return answerText(offset > 0 ? 'Nothing past this point.' : 'No documents here.');
    const next = offset + items.length;
    return answerJson({ total, ...(next < total && { next_offset: next }), items: items.map(presentItem) });
  },
};

function presentItem(document: ListedDocument) {
  return {
    document_id: document.id,
    document: cleanLine(document.name),
    folder: cleanLine(document.folder),
    type: document.type,
    ...(document.pages !== null && { pages: document.pages }),
    ...(document.pagesEstimated && { pages_estimated: true }),
    ...(document.pagesToView.length > 0 && { pages_to_view: document.pagesToView }),
    uploaded: new Date(document.uploadedAt).toISOString().slice(0, 10),
    ...(document.status !== 'ready' && { status: document.status }),
  };
}
