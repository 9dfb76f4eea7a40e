/** An endpoint over a small door, and what its tests send it. */
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { createHostRules } from '../../src/doors/http-hosts.ts';
import { registerMcpEndpoint, type McpEndpointOptions } from '../../src/doors/mcp/endpoint.ts';
import { OUT_OF_SCOPE } from '../../src/doors/mcp/protocol.ts';
import { RpcError } from '../../src/doors/mcp/rpc-error.ts';
import type { McpDoor } from '../../src/doors/mcp/types.ts';
import { registerWellKnown } from '../../src/doors/mcp/well-known.ts';

export const KEY = 'Bearer good';
export const MODERN = '2026-07-28';
const apps: FastifyInstance[] = [];

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

export const door: McpDoor = {
  serverInfo: { name: 'shelf', title: 'shelf', version: '1.2.3', description: 'A shelf' },
  capabilities: { tools: { listChanged: false } },
  instructions: 'Look here',
  listTools: async () => [{ name: 'echo', description: 'Echo', inputSchema: { type: 'object' } }],
  callTool: async (name, args, context) => {
    if (name === 'broken') throw new Error('SELECT secret FROM /etc/passwd');
    if (name === 'scoped') throw new RpcError(OUT_OF_SCOPE, 'Missing scope: write');
    if (name === 'slow')
      await new Promise((_resolve, reject) =>
        context.signal().addEventListener('abort', () => reject(new Error('aborted'))),
      );
    return { content: [{ type: 'text', text: JSON.stringify({ name, args }) }], isError: false };
  },
};

export async function start(more: Partial<McpEndpointOptions> = {}): Promise<FastifyInstance> {
  const app = Fastify();
  apps.push(app);
  registerWellKnown(app, ['/mcp']);
  await registerMcpEndpoint(app, {
    path: '/mcp',
    hosts: createHostRules({
      publicUrl: 'https://sergo.example.com',
      host: '127.0.0.1',
      allowedOrigins: ['https://console.example.com'],
    }),
    openDoor: async (request) => {
      const authorization = request.header('authorization');
      if (authorization === 'Bearer busy') throw new AppError('rate_limited', 'Slow down', { retryAfterSeconds: 7 });
      if (authorization !== KEY) throw new AppError('no_auth', 'Who is there?');
      return door;
    },
    ...more,
  });
  return app;
}

interface Sent {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS' | 'TRACE';
  url?: string;
  headers?: Record<string, string | string[] | undefined>;
  body?: unknown;
}

export async function send(app: FastifyInstance, { method = 'POST', url = '/mcp', headers = {}, body }: Sent) {
  const all: Record<string, string | string[] | undefined> = {
    host: 'localhost',
    authorization: KEY,
    'content-type': 'application/json',
    ...headers,
  };
  for (const name of Object.keys(all)) if (all[name] === undefined) delete all[name];
  const payload =
    body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return app.inject({ method: method as 'POST', url, headers: all as Record<string, string>, payload });
}

export const rpc = (method: string, params?: unknown, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  ...(params !== undefined && { params }),
});

export const meta = (more: Record<string, unknown> = {}) => ({
  _meta: {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
    ...more,
  },
});

export const modernHeaders = (method: string, name?: string) => ({
  'mcp-protocol-version': MODERN,
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
});
