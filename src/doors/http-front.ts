import type { FastifyInstance } from 'fastify';

/** For whoever opens the address in a browser: there is no console to show (DESIGN.md section 7). */
const TEXT = `Sergo, a library of documents with doors for AI agents.

/mcp                   agents, with an agent key
/api/v1                people and scripts, with a login or a personal key
/api/v1/openapi.json   every call of it

This copy has no console. The pages in its folder docs/ say how to do everything with the API and with bin/sergo.
`;

export function registerFrontPage(app: FastifyInstance): void {
  app.get('/', (_request, reply) => reply.type('text/plain; charset=utf-8').send(TEXT));
}
