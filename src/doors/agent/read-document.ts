import { z } from 'zod';
import { documentId, readArguments, wholeNumber } from './arguments.ts';
import { checkPage, findDocument } from './found-document.ts';
import type { DocumentView } from './ports.ts';
import { readRange, readSinglePage, readWhole, type PageReader } from './reading.ts';
import { cleanLine } from './text.ts';
import { answerJson, Refusal, type AgentTool } from './tool.ts';

const MAY_HELP = "This page's text may miss a figure, chart or table — `view_page` shows it";

const schema = z.object({ document_id: documentId, page: wholeNumber('page', 1), to_page: wholeNumber('to_page', 1) });

export const readDocument: AgentTool = {
  name: 'read_document',
  action: 'mcp text read',

  describe: (key) => ({
    name: 'read_document',
    description:
      `Read the text of a document from ${key.name} — use an id from ${key.name}'s \`search\` or \`list_documents\`. Returns its ` +
      'name, folder, how many pages it has, and the text: one page when `page` is given, pages `page` to `to_page` when both ' +
      'are given (such as the pages around a search excerpt), otherwise the whole document up to a limit (then it says up to ' +
      'which page it got). `pages_to_view` lists pages whose text may miss a figure, chart or table — use `view_page` on those ' +
      'when they matter.',
    inputSchema: {
      type: 'object',
      properties: {
        document_id: { type: 'string', description: 'The id from a search result' },
        page: {
          type: 'integer',
          minimum: 1,
          description: "One page's text, or the first page with `to_page` — leave out for the whole document",
        },
        to_page: { type: 'integer', minimum: 1, description: 'With `page`: read through this page too' },
      },
      required: ['document_id'],
    },
  }),

  async run(call, args) {
    const { document_id: id, page, to_page: toPage } = readArguments(schema, args);
    if (page == null && toPage != null) throw new Refusal('`to_page` needs `page`, the first page to read');
    if (page != null && toPage != null && toPage < page) throw new Refusal('`to_page` must not be before `page`');
    const document = await findDocument(call, id);
    const name = cleanLine(document.name);
    const pages = document.pages ?? 0;
    const read: PageReader = (from, to) => call.ports.readPages(document, from, to);

    if (page == null) {
      const whole = await readWhole(read, pages);
      call.note.detail = `${name}, ${whole.more === null ? 'all pages' : `pages ${whole.first}-${whole.last} of ${pages}`}`;
      return answerJson({
        ...presentDocument(document, whole.more === null ? {} : { read: spanOf(whole), more: whole.more }),
        text: whole.text,
      });
    }
    call.note.detail = toPage == null ? `${name}, page ${page}` : `${name}, pages ${page}-${toPage} of ${pages}`;
    checkPage(page, document);
    if (toPage == null) {
      const single = await readSinglePage(read, page);
      return answerJson({
        ...presentDocument(document, { page, more: single.more }),
        ...(document.pagesToView.includes(page) && { view_page_may_help: MAY_HELP }),
        text: single.text,
      });
    }
    const range = await readRange(read, page, Math.min(toPage, pages));
    call.note.detail = `${name}, pages ${range.first}-${range.last} of ${pages}`;
    return answerJson({ ...presentDocument(document, { read: spanOf(range), more: range.more }), text: range.text });
  },
};

function spanOf({ first, last }: { first: number; last: number }): string {
  return first === last ? String(first) : `${first}-${last}`;
}

/** Everything but the text, in the reference's order. */
function presentDocument(document: DocumentView, part: { page?: number; read?: string; more?: string | null }) {
  return {
    document: cleanLine(document.name),
    folder: cleanLine(document.folder),
    ...(part.page !== undefined && { page: part.page }),
    ...(document.pages !== null && { pages: document.pages }),
    ...(document.pagesEstimated && { pages_estimated: true }),
    ...(part.read !== undefined && { pages_read: part.read }),
    ...(part.more != null && { more: part.more }),
    ...(document.pagesToView.length > 0 && { pages_to_view: document.pagesToView }),
    ...(document.status !== 'ready' && { status: document.status }),
  };
}
