import Fastify, { type FastifyInstance } from 'fastify';
import { AppError } from '../../src/errors.ts';
import { registerMcpEndpoint } from '../../src/doors/mcp/endpoint.ts';
import { createHostRules } from '../../src/doors/http-hosts.ts';
import type { McpDoor } from '../../src/doors/mcp/types.ts';
import { registerWellKnown } from '../../src/doors/mcp/well-known.ts';

export const TEST_KEY = 'Bearer sgk_s_test';

export interface DoorServer {
  /** Such as `http://127.0.0.1:41233/mcp`. */
  url: string;
  app: FastifyInstance;
}

/** A listening server with one door behind one key, on a free loopback port. */
export async function startDoorServer(door: McpDoor): Promise<DoorServer> {
  const app = Fastify();
  registerWellKnown(app, ['/mcp']);
  await registerMcpEndpoint(app, {
    path: '/mcp',
    hosts: createHostRules({ publicUrl: 'https://sergo.example.com', host: '127.0.0.1', allowedOrigins: [] }),
    openDoor: async (request) => {
      if (request.header('authorization') !== TEST_KEY) throw new AppError('no_auth', 'No credentials');
      return door;
    },
  });
  return { url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp`, app };
}
