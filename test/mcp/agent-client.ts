import Fastify, { type FastifyInstance } from 'fastify';
import { openAgentDoor } from '../../src/doors/agent/door.ts';
import type { AgentDoorPorts } from '../../src/doors/agent/ports.ts';
import { createHostRules } from '../../src/doors/http-hosts.ts';
import { registerMcpEndpoint } from '../../src/doors/mcp/endpoint.ts';
import type { McpDoor, McpToolResult } from '../../src/doors/mcp/types.ts';
import { registerWellKnown } from '../../src/doors/mcp/well-known.ts';
import { AGENT_KEY } from './fake-library.ts';

/** The real endpoint and the real agent door over some ports, not listening yet. `wrap` may put fixtures in front. */
export async function createAgentApp(
  ports: AgentDoorPorts,
  wrap: (door: McpDoor) => McpDoor = (door) => door,
  limits: { callLimitMs?: number } = {},
): Promise<FastifyInstance> {
  const app = Fastify();
  registerWellKnown(app, ['/mcp']);
  await registerMcpEndpoint(app, {
    ...limits,
    path: '/mcp',
    hosts: createHostRules({ publicUrl: 'https://sergo.example.com', host: '127.0.0.1' }),
    openDoor: async (request) => wrap(await openAgentDoor({ ports, version: '0.6.0' }, request)),
  });
  return app;
}

/** Sends one JSON-RPC request in the legacy era and answers the whole HTTP answer. */
export async function post(
  app: FastifyInstance,
  method: string,
  params: unknown,
  headers: Record<string, string | undefined> = {},
) {
  const all: Record<string, string | undefined> = {
    host: 'localhost',
    authorization: `Bearer ${AGENT_KEY}`,
    'content-type': 'application/json',
    ...headers,
  };
  const sent = Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return app.inject({
    method: 'POST',
    url: '/mcp',
    headers: sent,
    payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
}

export async function callTool(
  app: FastifyInstance,
  name: string,
  args: unknown,
  headers: Record<string, string | undefined> = {},
): Promise<McpToolResult> {
  const answer = await post(app, 'tools/call', { name, arguments: args }, headers);
  return answer.json().result;
}

/** The one sentence of a result and whether it is an error. */
export function sentenceOf(result: McpToolResult): [string, boolean] {
  if (result.content.length !== 1 || result.content[0]!.type !== 'text')
    throw new Error(`not one sentence: ${JSON.stringify(result)}`);
  return [result.content[0]!.text, result.isError];
}

/** The JSON inside the first text block. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever the tool wrote
export function jsonOf(result: McpToolResult): any {
  const first = result.content[0]!;
  if (first.type !== 'text' || result.isError) throw new Error(`not JSON: ${JSON.stringify(result)}`);
  return JSON.parse(first.text);
}
