import { z } from 'zod';
import { actorOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import { errorAnswers } from './schemas.ts';

export function addHealthRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get(
    '/health',
    {
      schema: {
        summary: 'How this install is doing: what is missing and what it costs',
        tags: ['about'],
        response: {
          200: z.object({
            ok: z.boolean(),
            checks: z.record(z.string(), z.object({ ok: z.boolean(), detail: z.string().optional() })),
            notices: z.array(z.string()),
          }),
          ...errorAnswers,
        },
      },
    },
    async (request) => {
      actorOf(request);
      const { checks, notices } = await deps.ports.health();
      return { ok: Object.values(checks).every((check) => check.ok), checks, notices };
    },
  );
}
