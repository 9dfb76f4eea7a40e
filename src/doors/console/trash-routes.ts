import { z } from 'zod';
import { listTrash } from '../../library/folders.ts';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import { documentSchema, errorAnswers, folderSchema, time } from './schemas.ts';

const trashSchema = z.object({
  folders: z.array(folderSchema.extend({ trashed: time })),
  documents: z.array(documentSchema.extend({ trashed: time })),
});

export function addTrashRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get(
    '/trash',
    {
      schema: {
        summary: 'What I threw away, newest first',
        tags: ['trash'],
        response: { 200: trashSchema, ...errorAnswers },
      },
    },
    (request) => listTrash(deps.library, actorOf(request)),
  );
}
