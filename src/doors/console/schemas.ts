import { z } from 'zod';

/** What goes over the wire, once for answers, validation and OpenAPI. Fields not named here do not leave the server. */
export const errorSchema = z
  .object({ code: z.string(), message: z.string(), field: z.string().optional(), requestId: z.string() })
  .meta({ id: 'Error', description: 'Every error of this API. `message` is one sentence for a person.' });

/** Added to every route, so that the document says what errors look like. */
export const errorAnswers = { '4xx': errorSchema, '5xx': errorSchema };

export const idParams = z.object({ id: z.string().describe('An id of eight characters, such as xM5gW8NZ') });
export const empty = z.null().describe('No content');

export const listQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  offset: z.coerce.number().int().min(0).max(10_000_000).default(0),
});

export const purgeQuery = z.object({
  purge: z.enum(['true', 'false']).default('false').describe('true: for good, not to the trash'),
});

export const documentSchema = z
  .object({
    id: z.string(),
    ref: z.number().int(),
    name: z.string(),
    type: z.string(),
    status: z.enum(['processing', 'ready', 'not_indexed', 'failed']),
    reason: z.string().optional(),
    progress: z.object({ done: z.number(), total: z.number(), what: z.string() }).optional(),
    pages: z.number().int().optional(),
    pagesEstimated: z.boolean(),
    pagesToView: z.array(z.number().int()),
    imageOnlyPages: z.array(z.number().int()),
    pdfCopy: z.enum(['none', 'making', 'ready', 'failed']),
    folder: z.string(),
    folderId: z.string(),
    sha256: z.string(),
    bytes: z.number().int(),
    uploaded: z.string(),
    preset: z.string(),
    notices: z.array(z.string()),
  })
  .meta({ id: 'Document' });

export const restoredDocumentSchema = documentSchema.extend({
  said: z.string().optional().describe('Where it went when its folder is gone'),
});

export const folderSchema = z
  .object({ id: z.string(), name: z.string(), path: z.string(), parentId: z.string().nullable() })
  .meta({ id: 'Folder' });

export const restoredFolderSchema = folderSchema.extend({ said: z.string().optional() });

export const folderContentsSchema = folderSchema
  .extend({ folders: z.array(folderSchema), documents: z.array(documentSchema), documentCount: z.number().int() })
  .meta({ id: 'FolderContents' });

/** ISO 8601 in UTC, as everything with a time of day here. */
export const time = z.string().describe('ISO 8601, UTC');

export const nameInput = z.string().min(1).max(1000);
