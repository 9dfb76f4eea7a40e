import { z } from 'zod';
import {
  changeFolder,
  createFolder,
  getFolder,
  listRoots,
  listTree,
  purgeFolder,
  restoreFolder,
  trashFolder,
} from '../../library/folders.ts';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import {
  empty,
  errorAnswers,
  folderContentsSchema,
  folderSchema,
  idParams,
  listQuery,
  nameInput,
  purgeQuery,
  restoredFolderSchema,
} from './schemas.ts';

const tags = ['folders'];

export function addFolderRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get(
    '/folders',
    {
      schema: {
        summary: 'Where I start: my own root and what others shared with me; or the whole tree',
        tags,
        querystring: z.object({
          tree: z.enum(['true', 'false']).default('false').describe('true: every folder I can read'),
        }),
        response: { 200: z.object({ folders: z.array(folderSchema) }), ...errorAnswers },
      },
    },
    async (request) => {
      const list = request.query.tree === 'true' ? listTree : listRoots;
      return { folders: await list(deps.library, actorOf(request)) };
    },
  );

  app.post(
    '/folders',
    {
      schema: {
        summary: 'Make a folder',
        tags,
        body: z.strictObject({ name: nameInput, parentId: z.string() }),
        response: { 201: folderSchema, ...errorAnswers },
      },
    },
    async (request, reply) => reply.code(201).send(await createFolder(deps.library, actorOf(request), request.body)),
  );

  app.get(
    '/folders/:id',
    {
      schema: {
        summary: 'A folder with what is directly in it',
        tags,
        params: idParams,
        querystring: listQuery.extend({ limit: z.coerce.number().int().min(1).max(1000).default(500) }),
        response: { 200: folderContentsSchema, ...errorAnswers },
      },
    },
    (request) => getFolder(deps.library, actorOf(request), request.params.id, request.query),
  );

  app.patch(
    '/folders/:id',
    {
      schema: {
        summary: 'Rename or move a folder',
        tags,
        params: idParams,
        body: z.strictObject({ name: nameInput.optional(), parentId: z.string().optional() }),
        response: { 200: folderSchema, ...errorAnswers },
      },
    },
    (request) => changeFolder(deps.library, actorOf(request), request.params.id, request.body),
  );

  app.delete(
    '/folders/:id',
    {
      schema: {
        summary: 'To the trash, or away for good',
        tags,
        params: idParams,
        querystring: purgeQuery,
        response: { 204: empty, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const remove = request.query.purge === 'true' ? purgeFolder : trashFolder;
      await remove(deps.library, actorOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/folders/:id/restore',
    {
      schema: {
        summary: 'Out of the trash',
        tags,
        params: idParams,
        response: { 200: restoredFolderSchema, ...errorAnswers },
      },
    },
    (request) => restoreFolder(deps.library, actorOf(request), request.params.id),
  );
}
