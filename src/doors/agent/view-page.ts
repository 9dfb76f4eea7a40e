import { z } from 'zod';
import { COPY_STILL_MADE, NO_PAGE_VIEW } from '../../processing/view-page.ts';
import { documentId, readArguments, requiredWholeNumber } from './arguments.ts';
import { Base64 } from '../mcp/wire-text.ts';
import { checkPage, findDocument } from './found-document.ts';
import { cleanLine } from './text.ts';
import { Refusal, type AgentTool } from './tool.ts';

const schema = z.object({
  document_id: documentId,
  page: requiredWholeNumber('page', 1),
  format: z.enum(['image', 'pdf'], { error: '`format` must be image or pdf' }).nullish(),
});

export const viewPage: AgentTool = {
  name: 'view_page',
  action: 'mcp page viewed',

  describe: (key) => ({
    name: 'view_page',
    description:
      `Look at one page of a document from ${key.name} as a picture (or a one-page PDF) — for pages where \`read_document\` ` +
      'gives little or no text, or when a table, chart or figure matters. Costs more tokens than text, so read the text first. ' +
      'Only for PDFs and files with a PDF copy.',
    inputSchema: {
      type: 'object',
      properties: {
        document_id: { type: 'string', description: 'The id from a search result or list_documents' },
        page: {
          type: 'integer',
          minimum: 1,
          description:
            'The page to look at — usually one marked `view_page_may_help`, or in `image_only_pages` or `pages_to_view`',
        },
        format: {
          type: 'string',
          enum: ['image', 'pdf'],
          default: 'image',
          description: 'image (PNG) works everywhere; pdf keeps the text layer',
        },
      },
      required: ['document_id', 'page'],
    },
  }),

  async run(call, args) {
    const { document_id: id, page, format: asked } = readArguments(schema, args);
    const format = asked ?? 'image';
    const document = await findDocument(call, id);
    const name = cleanLine(document.name);
    call.note.detail = `${name}, page ${page}, ${format}`;
    const view = await call.ports.pageView(document);
    if (view === 'none') throw new Refusal(NO_PAGE_VIEW);
    if (view === 'making') throw new Refusal(COPY_STILL_MADE);
    const pages = checkPage(page, document);
    const bytes = await call.ports.drawPage(document, page, format, call.signal());
    const data = new Base64(bytes);
    return {
      content: [
        { type: 'text', text: `${name} — page ${page} of ${pages}` },
        format === 'image'
          ? { type: 'image', mimeType: 'image/png', data }
          : {
              type: 'resource',
              resource: {
                uri: `sergo://documents/${document.id}/pages/${page}.pdf`,
                mimeType: 'application/pdf',
                blob: data,
              },
            },
      ],
      isError: false,
    };
  },
};
