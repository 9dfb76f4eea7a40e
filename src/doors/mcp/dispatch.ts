import type { RpcMessage } from './envelope.ts';
import type { Era } from './era.ts';
import * as protocol from './protocol.ts';
import { RpcError } from './rpc-error.ts';
import type { McpCallContext, McpDoor, McpTool, McpToolResult } from './types.ts';
import { toWire, writeObject, type Wire } from './wire-text.ts';

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
  if (request.method === 'tools/list') {
    // The list is one page, so no cursor was ever handed out.
    if (request.params.cursor != null) throw new RpcError(protocol.INVALID_PARAMS, 'Invalid params: unknown `cursor`');
    return writeTools(await door.listTools(), era, door.serverInfo);
  }
  if (request.method === 'tools/call') {
    const capabilities = era.name === 'modern' ? era.clientCapabilities : undefined;
    return writeResult(await callTool(door, request, context, capabilities), era, door.serverInfo);
  }
  return writeResult(era.name === 'legacy' ? answerLegacy(door, request) : answerModern(door, request), era, door.serverInfo);
}

type ServerInfo = McpDoor['serverInfo'];

const RESULT_TYPE = '"resultType":"complete"';
/** Members that end a modern result, for each server info: a door shows the same one for as long as its key is the same. */
const metaTexts = new WeakMap<ServerInfo, string>();

function writeResult(result: object, era: Era, serverInfo: ServerInfo): Wire {
  if (era.name === 'legacy') return writeObject(result);
  let meta = metaTexts.get(serverInfo);
  if (meta === undefined) {
    meta = `"_meta":${toWire(JSON.stringify({ [protocol.META_SERVER_INFO]: serverInfo }))}`;
    metaTexts.set(serverInfo, meta);
  }
  return writeObject(result, RESULT_TYPE, meta);
}

/** Results of `tools/list` as they were written, for each list: a door answers the same array for as long as nothing changed. */
const listTexts = {
  legacy: new WeakMap<readonly McpTool[], { wire: Wire; serverInfo: ServerInfo }>(),
  modern: new WeakMap<readonly McpTool[], { wire: Wire; serverInfo: ServerInfo }>(),
};

function writeTools(tools: readonly McpTool[], era: Era, serverInfo: ServerInfo): Wire {
  const known = listTexts[era.name].get(tools);
  if (known?.serverInfo === serverInfo) return known.wire;
  const wire = writeResult(era.name === 'legacy' ? { tools } : { tools, ...NOT_CACHED }, era, serverInfo);
  listTexts[era.name].set(tools, { wire, serverInfo });
  return wire;
}

function answerLegacy(door: McpDoor, request: RpcRequest): Record<string, unknown> {
  switch (request.method) {
    case 'initialize':
      return initialize(door, request);
    case 'ping':
      return {};
    default:
      throw new RpcError(protocol.METHOD_NOT_FOUND, 'Method not found');
  }
}

function answerModern(door: McpDoor, request: RpcRequest): Record<string, unknown> {
  if (request.method !== 'server/discover') throw new RpcError(protocol.METHOD_NOT_FOUND, 'Method not found', { status: 404 });
  const { capabilities, instructions } = door;
  return { supportedVersions: protocol.SUPPORTED_VERSIONS, capabilities, instructions, ...NOT_CACHED };
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
  const timeIsUp = (): McpToolResult | Promise<McpToolResult> => {
    stop?.abort();
    const sentence = `This took longer than ${context.callLimitMs / 1000} seconds and was stopped — try again or ask for less`;
    return call.giveUp?.(sentence) ?? sentenceResult(sentence);
  };
  try {
    return await within(context.callLimitMs, door.callTool(name, args === undefined ? {} : args, call), timeIsUp);
  } catch (error) {
    if (error instanceof RpcError) throw error;
    context.reportFault(error);
    return sentenceResult(protocol.INTERNAL_SENTENCE);
  }
}

/** What comes of `work`, or what `late` answers once the time is up. */
function within<T>(ms: number, work: Promise<T>, late: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(late()), ms);
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

function sentenceResult(text: string): McpToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
