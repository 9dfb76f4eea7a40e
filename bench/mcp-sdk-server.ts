/** The yardstick of `mcp.ts`: a minimal server on the official SDK v2 with the same tools, no key and no audit log. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { readyMessage, type Yardstick } from './mcp-target.ts';

const yardstick = JSON.parse(process.argv[2]!) as Yardstick;

const handler = createMcpHandler(() => {
  const server = new Server({ name: 'energy-outlooks', version: '0.6.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: yardstick.tools }));
  server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: yardstick.text }], isError: false }));
  return server;
});
const handle = toNodeHandler(handler);

const server = createServer((request, response) => void handle(request, response));
server.listen(0, '127.0.0.1', () => {
  console.log(readyMessage({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` }));
});
