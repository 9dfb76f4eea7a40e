import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { ConsoleApp, RouteDeps } from './deps.ts';
import { actorOf, identify } from './authentication.ts';
import { errorAnswers } from './schemas.ts';
import { AppError } from '../../errors.ts';
import { PassThrough } from 'node:stream';

/** Streams that one user may hold open at once. */
const MAX_STREAMS = 20;
const KEEP_ALIVE_MS = 15_000;

/** Server-sent events: `document` with the document whenever its status, progress or copy changes, for what the caller can read. */
export function addEventRoutes(app: ConsoleApp, deps: RouteDeps): void {
  const watch = deps.progress;
  const streams = new Map<PassThrough, string>();
  app.addHook('preClose', async () => {
    watch.stop();
    for (const stream of streams.keys()) stream.end();
  });

  app.get(
    '/events',
    {
      exposeHeadRoute: false,
      schema: {
        summary: 'Progress of documents, as server-sent events',
        tags: ['jobs'],
        querystring: z.object({}),
        produces: ['text/event-stream'],
        response: errorAnswers,
      },
    },
    async (request, reply) => {
      const user = actorOf(request).user.id;
      if ([...streams.values()].filter((one) => one === user).length >= MAX_STREAMS) {
        throw new AppError('rate_limited', `There are already ${MAX_STREAMS} event streams open — close one first`, {
          retryAfterSeconds: 5,
        });
      }
      const stream = new PassThrough();
      streams.set(stream, user);
      // Rights are those of now: a key that is revoked, or a user who is disabled, ends the stream.
      const actorNow = () => identify(deps, request);
      const leave = watch.join({
        actorNow,
        send: (view) => void stream.write(`event: document\ndata: ${JSON.stringify(view)}\n\n`),
        end: () => stream.end(),
      });
      const keepAlive = setInterval(() => {
        void actorNow().then(
          () => stream.write(': still here\n\n'),
          () => stream.end(),
        );
      }, KEEP_ALIVE_MS);
      stream.once('close', () => {
        clearInterval(keepAlive);
        leave();
        streams.delete(stream);
      });
      reply.raw.once('close', () => stream.destroy());
      stream.write('retry: 3000\n\n');
      return (reply as FastifyReply)
        .type('text/event-stream; charset=utf-8')
        .header('x-accel-buffering', 'no')
        .send(stream);
    },
  );
}
