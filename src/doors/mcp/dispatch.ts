import type { RpcMessage } from './envelope.ts';
import type { Era } from './era.ts';
import * as protocol from './protocol.ts';
import { RpcError } from './rpc-error.ts';
import type { McpCallContext, McpDoor, McpToolResult } from './types.ts';
import { writeObject, type Wire } from './wire-text.ts';

/** How long a tool may take: clients give up at 60 s, proxies sooner (mcp.md decision 8). */
export const CALL_LIMIT_MS = 30_000;

type RpcRequest = RpcMessage & { kind: 'request' };

export interface DispatchContext {
  requestId: string;
  /** Made for a tool that looks at it: aborted by the endpoint when the client goes away, and here when the call's time is up. */
  stop(): AbortController;
  callLimitMs: number;
  /** Called with what a tool threw that no caller can act on. */
  reportFault(error: unknown): void;
}

/** The `result` of one request, as JSON. Throws RpcError for what is answered as an error. */
export async function dispatchRequest(
  door: McpDoor,
  request: RpcRequest,
  era: Era,
  context: DispatchContext,
): Promise<Wire> {
  if (era.name === 'legacy') return writeObject(await answerLegacy(door, request, context));
  const result = await answerModern(door, request, context, era.clientCapabilities);
  return writeObject({ resultType: 'complete', ...result, _meta: { [protocol.META_SERVER_INFO]: door.serverInfo } });
}

async function answerLegacy(
  door: McpDoor,
  request: RpcRequest,
  context: DispatchContext,
): Promise<Record<string, unknown>> {
  switch (request.method) {
    case 'initialize':
      return initialize(door, request);
    case 'ping':
      return {};
    case 'tools/list':
      return listTools(door, request);
    case 'tools/call':
      return { ...(await callTool(door, request, context)) };
    default:
      throw new RpcError(protocol.METHOD_NOT_FOUND, 'Method not found');
  }
}

async function answerModern(
  door: McpDoor,
  request: RpcRequest,
  context: DispatchContext,
  clientCapabilities: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  switch (request.method) {
    case 'server/discover':
      return {
        supportedVersions: protocol.SUPPORTED_VERSIONS,
        capabilities: door.capabilities,
        instructions: door.instructions,
        ...NOT_CACHED,
      };
    case 'tools/list':
      return { ...(await listTools(door, request)), ...NOT_CACHED };
    case 'tools/call':
      return { ...(await callTool(door, request, context, clientCapabilities)) };
    default:
      throw new RpcError(protocol.METHOD_NOT_FOUND, 'Method not found', { status: 404 });
  }
}

/** A key's name, description and folders may change at any moment, and they are that key's alone. */
const NOT_CACHED = { ttlMs: 0, cacheScope: 'private' } as const;

function initialize(door: McpDoor, request: RpcRequest): Record<string, unknown> {
  const { capabilities, instructions, serverInfo } = door;
  return { capabilities, instructions, protocolVersion: negotiateVersion(request.params.protocolVersion), serverInfo };
}

/** The version asked for when we speak it, else our newest: the client decides whether that will do. */
export function negotiateVersion(asked: unknown): string {
  if (typeof asked !== 'string')
    throw new RpcError(protocol.INVALID_PARAMS, 'Invalid params: `protocolVersion` must be a string');
  return protocol.LEGACY_VERSIONS.includes(asked) ? asked : protocol.LEGACY_VERSIONS[0]!;
}

async function listTools(door: McpDoor, request: RpcRequest): Promise<{ tools: unknown[] }> {
  // The list is one page, so no cursor was ever handed out.
  if (request.params.cursor != null) throw new RpcError(protocol.INVALID_PARAMS, 'Invalid params: unknown `cursor`');
  return { tools: await door.listTools() };
}

async function callTool(
  door: McpDoor,
  request: RpcRequest,
  context: DispatchContext,
  clientCapabilities?: Record<string, unknown>,
): Promise<McpToolResult> {
  const { name, arguments: args } = request.params;
  if (typeof name !== 'string') throw new RpcError(protocol.INVALID_PARAMS, 'Invalid params: `name` must be a string');
  // Few tools look at it, and making one is not for nothing.
  let stop: AbortController | undefined;
  const call: McpCallContext = { requestId: context.requestId, signal: () => (stop ??= context.stop()).signal };
  if (clientCapabilities) call.clientCapabilities = clientCapabilities;
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<McpToolResult>((resolve) => {
    timer = setTimeout(() => {
      stop?.abort();
      resolve(
        sentenceResult(
          `This took longer than ${context.callLimitMs / 1000} seconds and was stopped — try again or ask for less`,
        ),
      );
    }, context.callLimitMs);
  });
  try {
    return await Promise.race([door.callTool(name, args === undefined ? {} : args, call), limit]);
  } catch (error) {
    if (error instanceof RpcError) throw error;
    context.reportFault(error);
    return sentenceResult(protocol.INTERNAL_SENTENCE);
  } finally {
    clearTimeout(timer);
  }
}

function sentenceResult(text: string): McpToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
