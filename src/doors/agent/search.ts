import { z } from 'zod';
import { readArguments, wholeNumber } from './arguments.ts';
import { chooseScope, describeFolders, folderNames } from './folders.ts';
import type { Excerpt, FoundDocument } from './ports.ts';
import { cleanLine, cleanText } from './text.ts';
import { answerJson, answerText, Refusal, shortenForAudit, type AgentTool } from './tool.ts';

const DEFAULT_LIMIT = 10;
const MAX_OFFSET = 80;
/** Far beyond any question; keeps a pasted file out of the ranking and the audit log. */
const MAX_QUERY_LENGTH = 4000;

const schema = z.object({
  query: z.unknown().optional(),
  limit: wholeNumber('limit', 1, 20),
  offset: wholeNumber('offset', 0, MAX_OFFSET),
  folders: folderNames,
});

export const search: AgentTool = {
  name: 'search',
  action: 'mcp search',

  describe: (key, folders) => ({
    name: 'search',
    description:
      `Search ${key.name}${describeKey(key.description)} Returns the best-matching excerpts — at most half of them from one ` +
      "document — grouped by document, with the document id, name and folder, and each excerpt's page (and section, in Word " +
      'files). `pages_estimated: true` on a document means its page numbers are estimates — `read_document` takes them, ' +
      '`view_page` may show other pages. `view_page_may_help: true` on an excerpt means the text of that page may miss a ' +
      'figure, chart or table — `view_page` shows the page. `image_only_pages` lists pages of that document with no text, only ' +
      'a picture, which search cannot find. When the excerpts do not answer, the answer may be on one of those, or on the ' +
      'pages next to an excerpt (`read_document` with `page` and `to_page`).',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What to look for — plain words or a question' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 20,
          default: DEFAULT_LIMIT,
          description: 'How many excerpts to return (at most half of them from one document)',
        },
        offset: {
          type: 'integer',
          minimum: 0,
          maximum: MAX_OFFSET,
          default: 0,
          description: 'Skip this many excerpts — the result says the offset of the next ones when there are more',
        },
        folders: describeFolders('search', folders),
      },
      required: ['query'],
    },
  }),

  async run(call, args) {
    const given = readArguments(schema, args);
    const query = readQuery(given.query);
    const offset = given.offset ?? 0;
    const limit = given.limit ?? DEFAULT_LIMIT;
    const folders = given.folders && given.folders.length > 0 ? given.folders : null;
    const shown = shortenForAudit(query);
    call.note.detail = shown;
    const scope = await chooseScope(call, folders);
    call.note.asked = { query, folders, limit, offset, asKey: null, found: null };
    const found = await call.ports.search(scope, { query, limit, offset }, call.signal());
    const count = found.documents.reduce((sum, document) => sum + document.excerpts.length, 0);
    const start = given.offset == null ? '' : `, from ${offset}`;
    call.note.asked.found = count;
    call.note.detail = `${shown} — ${count} ${count === 1 ? 'result' : 'results'}${start}`;
    if (count === 0) return answerText(offset > 0 ? 'Nothing past this point.' : 'Nothing matched.');
    const result = answerJson(found.documents.map(presentDocument));
    // An offset that the tool would refuse is not worth naming.
    if (found.nextOffset !== null && found.nextOffset <= MAX_OFFSET) {
      result.content.push({
        type: 'text',
        text: `More excerpts past these: search again with offset ${found.nextOffset}.`,
      });
    }
    return result;
  },
};

/** `: <description>.` with exactly one full stop. */
function describeKey(description: string): string {
  const line = cleanLine(description).trim();
  if (line === '') return '.';
  return /[.!?…]$/.test(line) ? `: ${line}` : `: ${line}.`;
}

function readQuery(query: unknown): string {
  if (typeof query !== 'string') throw new Refusal('Give a query to search for.');
  if (query.length > MAX_QUERY_LENGTH) throw new Refusal('The query is too long — use at most 4,000 characters');
  const words = cleanText(query).trim();
  if (words === '') throw new Refusal('Give a query to search for.');
  return words;
}

export function presentDocument(document: FoundDocument) {
  return {
    document_id: document.id,
    document: cleanLine(document.name),
    folder: cleanLine(document.folder),
    ...(document.pagesEstimated && { pages_estimated: true }),
    ...(document.imageOnlyPages.length > 0 && { image_only_pages: document.imageOnlyPages }),
    hits: document.excerpts.map(presentExcerpt),
  };
}

function presentExcerpt(excerpt: Excerpt) {
  return {
    ...(excerpt.page !== null && { page: excerpt.page }),
    ...(excerpt.section !== null && { section: cleanLine(excerpt.section) }),
    ...(excerpt.toView && { view_page_may_help: true }),
    excerpt: cleanText(excerpt.text),
  };
}
