import { z } from 'zod';
import { changeOwnPassword, getMe } from '../../access/people.ts';
import { signIn, signOut } from '../../access/sessions.ts';
import { AppError } from '../../errors.ts';
import { sessionCookie } from '../http-cookies.ts';
import { actorOf, factsOf, tokenOf } from './authentication.ts';
import type { ConsoleApp, ConsoleDeps } from './deps.ts';
import { empty, errorAnswers } from './schemas.ts';

const login = z.strictObject({
  email: z.string().min(1).max(320),
  password: z.string().min(1).max(1024),
  cookie: z
    .boolean()
    .default(false)
    .describe('For browsers: the token goes into a cookie that scripts cannot read, not into the answer'),
});

const meSchema = z.object({
  userId: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(['admin', 'member']),
  rootFolderId: z.string(),
});

export function addSessionRoutes(app: ConsoleApp, deps: ConsoleDeps): void {
  app.post(
    '/login',
    {
      config: { public: true },
      schema: {
        summary: 'Sign in',
        tags: ['session'],
        body: login,
        response: { 200: z.object({ token: z.string().optional(), expiresAt: z.string() }), ...errorAnswers },
      },
    },
    async (request, reply) => {
      const { cookie, ...input } = request.body;
      const account = input.email.trim().toLowerCase();
      deps.limits.checkLogin(account, request.ip);
      const session = await signIn(deps.library, input, factsOf(request)).catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'bad_login') deps.limits.countBadLogin(account, request.ip);
        throw error;
      });
      const expiresAt = new Date(session.expiresAt).toISOString();
      if (!cookie) return { token: session.token, expiresAt };
      const ageSeconds = Math.max(0, Math.floor((session.expiresAt - deps.clock.now()) / 1000));
      reply.header('set-cookie', sessionCookie(deps.publicUrl, session.token, ageSeconds));
      return { expiresAt };
    },
  );

  app.post(
    '/logout',
    { schema: { summary: 'End this login token', tags: ['session'], response: { 204: empty, ...errorAnswers } } },
    async (request, reply) => {
      await signOut(deps.library, actorOf(request), tokenOf(request, deps.publicUrl));
      reply.header('set-cookie', sessionCookie(deps.publicUrl, '', 0));
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/me',
    { schema: { summary: 'Who am I?', tags: ['session'], response: { 200: meSchema, ...errorAnswers } } },
    (request) => getMe(deps.library, actorOf(request)),
  );

  app.post(
    '/me/password',
    {
      schema: {
        summary: 'Change my password',
        tags: ['session'],
        body: z.strictObject({ oldPassword: z.string().min(1).max(1024), password: z.string().min(1).max(1024) }),
        response: { 204: empty, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const actor = actorOf(request);
      // A stolen session must not be a way to guess the password.
      deps.limits.checkLogin(actor.user.email, request.ip);
      await changeOwnPassword(deps.library, actor, request.body.oldPassword, request.body.password).catch(
        (error: unknown) => {
          if (error instanceof AppError && error.field === 'oldPassword')
            deps.limits.countBadLogin(actor.user.email, request.ip);
          throw error;
        },
      );
      return reply.code(204).send(null);
    },
  );
}
