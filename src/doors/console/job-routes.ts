import { z } from 'zod';
import { scopeOf } from '../../access/scope.ts';
import { documentViews } from '../../library/views.ts';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import { documentSchema, errorAnswers, time } from './schemas.ts';

/** More than anybody watches at once. */
const MAX_SHOWN = 200;

export function addJobRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get(
    '/jobs',
    {
      schema: {
        summary: 'My documents that are being worked on; admins see the length of the whole queue too',
        tags: ['jobs'],
        response: {
          200: z.object({
            documents: z.array(documentSchema),
            queue: z.object({ open: z.number().int(), oldest: time.nullable() }).optional(),
          }),
          ...errorAnswers,
        },
      },
    },
    async (request) => {
      const actor = actorOf(request);
      const { storage } = deps.library;
      const scope = await scopeOf(storage, actor);
      const rows = await storage.documents.byRefs(await deps.ports.busyDocuments(10_000));
      const [folders, singles] = [new Set(scope.folders), new Set(scope.documents)];
      const mine = rows
        .filter((row) => row.trashedAt === null && (folders.has(row.folder) || singles.has(row.ref)))
        .slice(0, MAX_SHOWN);
      const documents = await documentViews(storage, mine);
      // How much others have waiting is not a member's to see.
      if (actor.user.role !== 'admin') return { documents };
      const [open, oldest] = await Promise.all([storage.jobs.countOpen(), storage.jobs.oldestOpenAt()]);
      return { documents, queue: { open, oldest: oldest === null ? null : new Date(oldest).toISOString() } };
    },
  );
}
