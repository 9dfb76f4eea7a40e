import { z } from 'zod';
import { needsSetup, setUpWithToken } from '../../access/setup.ts';
import { notFound } from '../../errors.ts';
import { factsOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import { errorAnswers } from './schemas.ts';

const firstAdmin = z.strictObject({
  token: z.string().min(1).max(200).describe('The one-time token that the first start prints'),
  name: z.string().min(1).max(200),
  email: z.string().min(3).max(320),
  password: z.string().min(1).max(1024),
});

/** Making the first admin; the address is gone once there is one (P20). */
export function addSetupRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  // Before a body is read: to whoever asks afterwards nothing tells what it once took.
  const goneOnceThereIsAnAdmin = async (): Promise<void> => {
    if (!(await needsSetup(deps.library))) throw notFound();
  };

  app.get(
    '/setup',
    {
      onRequest: goneOnceThereIsAnAdmin,
      config: { public: true },
      schema: {
        summary: 'Is there still a first admin to make?',
        tags: ['set-up'],
        response: { 200: z.object({ needed: z.literal(true) }), ...errorAnswers },
      },
    },
    async () => ({ needed: true as const }),
  );

  app.post(
    '/setup',
    {
      onRequest: goneOnceThereIsAnAdmin,
      config: { public: true },
      schema: {
        summary: 'Make the first admin',
        tags: ['set-up'],
        body: firstAdmin,
        response: {
          201: z.object({ token: z.string(), expiresAt: z.string(), userId: z.string(), folderId: z.string() }),
          ...errorAnswers,
        },
      },
    },
    async (request, reply) => {
      // The token is 128 bits, but guessing it should not be cheap either.
      deps.limits.checkLogin('set-up', request.ip);
      try {
        const made = await setUpWithToken(deps.library, request.body, factsOf(request));
        await deps.afterSetUp?.();
        return await reply.code(201).send({ ...made, expiresAt: new Date(made.expiresAt).toISOString() });
      } catch (error) {
        if (isWrongToken(error)) deps.limits.countBadLogin('set-up', request.ip);
        throw error;
      }
    },
  );
}

const isWrongToken = (error: unknown): boolean => (error as { code?: string } | null)?.code === 'forbidden';
