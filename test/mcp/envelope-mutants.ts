/** JSON-RPC requests that mean well, of both eras, and what is then done to them (trust.md P25). */
import fc from 'fast-check';

export type Json = unknown;
/** One request as it leaves. */
export interface Sent {
  body: string | Buffer;
  headers: Record<string, string>;
}

const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const scalar = fc.constantFrom<Json>(
  null,
  true,
  0,
  -1,
  21,
  1e9,
  10.5,
  '',
  '10',
  'xM5gW8NZ',
  'Basic',
  '\u0000',
  '\ud800',
  '__proto__',
  [],
  {},
  ['Basic'],
  'x'.repeat(5000),
);
const anything = fc.oneof({ weight: 3, arbitrary: scalar }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) });

const calls = fc.oneof(
  fc.record({
    name: fc.constant('search'),
    arguments: fc.record(
      { query: anything, limit: anything, offset: anything, folders: anything },
      { requiredKeys: [] },
    ),
  }),
  fc.record({
    name: fc.constant('list_documents'),
    arguments: fc.record({ limit: anything, offset: anything, folders: anything }, { requiredKeys: [] }),
  }),
  fc.record({
    name: fc.constant('read_document'),
    arguments: fc.record({ document_id: anything, page: anything, to_page: anything }, { requiredKeys: [] }),
  }),
  fc.record({
    name: fc.constant('view_page'),
    arguments: fc.record({ document_id: anything, page: anything, format: anything }, { requiredKeys: [] }),
  }),
  fc.record({ name: anything, arguments: anything }),
);

const requests = fc.oneof(
  fc.record({ method: fc.constant('tools/call'), params: calls }),
  fc.record({
    method: fc.constant('initialize'),
    params: fc.record({
      protocolVersion: fc.oneof(fc.constantFrom<Json>('2025-06-18', '2025-11-25', '1999-01-01'), anything),
      capabilities: anything,
      clientInfo: anything,
    }),
  }),
  fc.record({
    method: fc.constantFrom(
      'tools/list',
      'ping',
      'server/discover',
      'notifications/initialized',
      'resources/list',
      '__proto__',
    ),
    params: fc.oneof(fc.constant({}), anything),
  }),
);

/** An envelope that means well, of either era, with or without an id. */
const envelopes = fc
  .record({
    request: requests,
    id: fc.option(fc.oneof(fc.integer(), fc.string(), anything), { nil: undefined }),
    modern: fc.boolean(),
  })
  .map(({ request, id, modern }) => {
    const params =
      modern && typeof request.params === 'object' && request.params !== null && !Array.isArray(request.params)
        ? { ...request.params, _meta: modernMeta }
        : request.params;
    const message: Record<string, Json> = {
      jsonrpc: '2.0',
      method: request.method,
      params,
      ...(id !== undefined && { id }),
    };
    const headers: Record<string, string> = modern
      ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': request.method }
      : {};
    const name = (request.params as { name?: unknown } | null)?.name;
    if (modern && typeof name === 'string' && /^[\x21-\x7e]+$/.test(name)) headers['mcp-name'] = name;
    return { message, headers };
  });

/** What may be done to the message before it is written down … */
const reshapings = fc.oneof(
  { weight: 5, arbitrary: fc.constant((message: Record<string, Json>): Json => message) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'result', 'error', '_meta', 'extra'), anything)
      .map(([key, value]) => (message: Record<string, Json>): Json => ({ ...message, [key]: value })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('jsonrpc', 'method', 'params', 'id')
      .map((key) => (message: Record<string, Json>): Json => {
        const { [key]: _gone, ...rest } = message;
        return rest;
      }),
  },
  {
    weight: 1,
    arbitrary: fc.nat(3).map(
      (count) =>
        (message: Record<string, Json>): Json =>
          Array(count).fill(message),
    ),
  },
  { weight: 1, arbitrary: anything.map((value) => (): Json => value) },
);

/** … and to its bytes. */
const scratches = fc.oneof(
  { weight: 8, arbitrary: fc.constant((text: string): string | Buffer => text) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(), fc.nat(255)).map(([at, byte]) => (text: string) => {
      const bytes = Buffer.from(text);
      bytes[at % bytes.length] = byte;
      return bytes;
    }),
  },
  { weight: 1, arbitrary: fc.nat().map((at) => (text: string) => text.slice(0, at % (text.length + 1))) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('\uFEFF', '[', '{"a":'.repeat(100), ' \n', '{"jsonrpc":"2.0",')
      .map((start) => (text: string) => start + text),
  },
  { weight: 1, arbitrary: fc.constant((text: string) => text.replace('"id":', '"id":1e400,"id":')) },
  { weight: 1, arbitrary: fc.constant((text: string) => Buffer.from(text, 'utf16le')) },
);

const headerChanges = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  {
    weight: 2,
    arbitrary: fc.dictionary(
      fc.constantFrom(
        'mcp-protocol-version',
        'mcp-method',
        'mcp-name',
        'mcp-session-id',
        'accept',
        'content-type',
        'origin',
        'x-sergo-end-user',
        'last-event-id',
      ),
      fc.constantFrom(
        '',
        'x',
        'null',
        '2025-06-18',
        '2026-07-28',
        '1999-01-01',
        'tools/call',
        '=?base64?!?=',
        'application/json',
        'text/plain',
        'http://evil.example',
        'é',
        'x'.repeat(500),
      ),
    ),
  },
);

export const mutants = fc
  .tuple(envelopes, reshapings, scratches, headerChanges)
  .map(([{ message, headers }, reshape, scratch, change]): Sent => {
    const text = JSON.stringify(reshape(message)) ?? '';
    return { body: text === '' ? '' : scratch(text), headers: { ...headers, ...change } };
  });

/** What the body says when it can be read at all; undefined when it is not JSON. */
export function readBody({ body }: Sent): Json {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

export function isPlainNotification(sent: Sent): boolean {
  const value = readBody(sent) as Record<string, Json> | null | undefined;
  const headersAreFine =
    Object.keys(sent.headers).every((name) => name.startsWith('mcp-') && name !== 'mcp-protocol-version') ||
    sent.headers['mcp-protocol-version'] === '2026-07-28';
  const others = ['content-type', 'origin'].some((name) => name in sent.headers);
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    value.jsonrpc === '2.0' &&
    typeof value.method === 'string' &&
    !('id' in value) &&
    headersAreFine &&
    !others
  );
}

/** Bytes that the endpoint refuses before it looks at what they mean. */
export function isRefused({ body }: Sent): boolean {
  const text = body.toString();
  return text.includes('\ufffd') || /^\s*\uFEFF/.test(text) || text.length > 1_000_000;
}
