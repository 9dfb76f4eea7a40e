import type { FastifyInstance } from 'fastify';

const METHODS = 'GET, HEAD, POST, PATCH, DELETE';
const HEADERS = 'authorization, content-type, if-none-match, range, x-request-id, x-sergo-end-user, x-sergo-request';
const EXPOSED = 'content-disposition, content-range, etag, retry-after, x-next-offset, x-request-id';

/** No other site's page may call this API, but for origins that the operator listed; those bring a key, never the cookie. */
export function addCrossOrigin(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers;
    reply.header('vary', 'Origin');
    if (origin === undefined || !app.hostRules.allowedOrigin(origin)) return;
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', EXPOSED);
    if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
      reply
        .header('access-control-allow-methods', METHODS)
        .header('access-control-allow-headers', HEADERS)
        .header('access-control-max-age', '600');
      return reply.code(204).send();
    }
  });
  // Without a listed origin the answer is that of a path which does not take OPTIONS.
  app.options('/*', { config: { public: true }, schema: { hide: true } }, (_request, reply) => reply.callNotFound());
}
