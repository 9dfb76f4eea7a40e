import type { Target } from './mcp-target.ts';

/** One request to repeat. `era` is the protocol era it is written in. */
export interface BenchRequest {
  name: string;
  era: 'legacy' | 'modern';
  method: 'tools/call' | 'tools/list';
  headers: Record<string, string>;
  body: string;
}

const MODERN = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A small call (one page of text) and the list of tools, each in both eras. */
export function writeRequests(documentId: string): BenchRequest[] {
  const call = { name: 'read_document', arguments: { document_id: documentId, page: 1 } };
  return [
    writeRequest('tools/call', 'legacy', call),
    writeRequest('tools/call', 'modern', call),
    writeRequest('tools/list', 'legacy', {}),
    writeRequest('tools/list', 'modern', {}),
  ];
}

function writeRequest(
  method: 'tools/call' | 'tools/list',
  era: 'legacy' | 'modern',
  params: { name?: string; arguments?: object },
): BenchRequest {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  headers['mcp-protocol-version'] = era === 'modern' ? MODERN : '2025-11-25';
  if (era === 'modern') headers['mcp-method'] = method;
  if (era === 'modern' && params.name !== undefined) headers['mcp-name'] = params.name;
  const sent = era === 'modern' ? { ...params, _meta: META } : params;
  return {
    name: `${method}, ${era}`,
    era,
    method,
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: sent }),
  };
}

export function headersFor(request: BenchRequest, target: Target): Record<string, string> {
  return target.authorization === undefined
    ? request.headers
    : { ...request.headers, authorization: target.authorization };
}

/** Sends it once and answers the JSON-RPC result, out of JSON or out of an event stream. */
export async function sendOnce(request: BenchRequest, target: Target): Promise<Record<string, unknown>> {
  const answer = await fetch(target.url, { method: 'POST', headers: headersFor(request, target), body: request.body });
  const text = await answer.text();
  const json = text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? '');
  if (!answer.ok || json === '') throw new Error(`${target.url} answered ${answer.status}: ${text.slice(0, 200)}`);
  const { result } = JSON.parse(json) as { result?: Record<string, unknown> };
  if (result === undefined || result.isError === true)
    throw new Error(`${target.url} did not answer ${request.name}: ${json.slice(0, 200)}`);
  return result;
}
