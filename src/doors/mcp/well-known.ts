import type { FastifyInstance } from 'fastify';

/**
 * A plain 404 for everything under `/.well-known/` and below the MCP addresses: clients probe there for OAuth, and an
 * answer from the console's fallback page makes them drop the key they were given (mcp.md section 6, complaint 7).
 */
export function registerWellKnown(app: FastifyInstance, mcpPaths: readonly string[]): void {
  for (const url of ['/.well-known/*', ...mcpPaths.map((path) => `${path}/.well-known/*`)]) {
    app.all(url, { schema: { hide: true } as object }, (_request, reply) =>
      reply.code(404).type('text/plain').send('Not found'),
    );
  }
}
