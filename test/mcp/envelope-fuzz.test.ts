import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAgentApp } from './agent-client.ts';
import { AGENT_KEY, createFakePorts } from './fake-library.ts';
import { createSampleLibrary } from './sample-library.ts';

/** Trust.md P25. */
const RUNS = 10_000;
const HANG_MS = 15_000;
const INTERNAL = 'An internal error occurred';

type Json = unknown;
interface Sent {
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

const mutants = fc
  .tuple(envelopes, reshapings, scratches, headerChanges)
  .map(([{ message, headers }, reshape, scratch, change]): Sent => {
    const text = JSON.stringify(reshape(message)) ?? '';
    return { body: text === '' ? '' : scratch(text), headers: { ...headers, ...change } };
  });

/** What the body says when it can be read at all; undefined when it is not JSON. */
function readBody({ body }: Sent): Json {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function isPlainNotification(sent: Sent): boolean {
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

describe('the envelope', () => {
  it(
    `answers ${RUNS} mutants with valid JSON-RPC or a 4xx, and none with a fault of ours`,
    { timeout: 600_000 },
    async () => {
      const fake = createFakePorts(
        createSampleLibrary([
          { id: 'xM5gW8NZ', name: 'deck.pptx', folder: 3, pages: [{ text: 'wind' }, { text: '', toView: true }] },
        ]),
      );
      const app = await createAgentApp(fake.ports);
      const seen = new Map<string, number>();
      await fc.assert(
        fc.asyncProperty(mutants, async (sent) => {
          const answer = await withinTime(
            app.inject({
              method: 'POST',
              url: '/mcp',
              headers: {
                host: 'localhost',
                authorization: `Bearer ${AGENT_KEY}`,
                'content-type': 'application/json',
                ...sent.headers,
              },
              payload: sent.body,
            }),
          );
          seen.set(String(answer.statusCode), (seen.get(String(answer.statusCode)) ?? 0) + 1);
          expect(
            answer.statusCode === 200 ||
              answer.statusCode === 202 ||
              (answer.statusCode >= 400 && answer.statusCode < 500),
          ).toBe(true);
          expect(answer.body).not.toContain(INTERNAL);
          expect(answer.body).not.toMatch(/node_modules|\/src\/|\bat [\w.]+ \(|TypeError|ZodError/);
          if (isPlainNotification(sent) && !isRefused(sent))
            expect([answer.statusCode, answer.body]).toEqual([202, '']);
          if (answer.statusCode === 202) {
            expect(answer.body).toBe('');
            return;
          }
          const message = answer.json() as Record<string, Json>;
          if (!('jsonrpc' in message)) {
            expect(answer.statusCode).toBeGreaterThanOrEqual(400);
            expect(Object.keys(message)).toEqual(['code', 'message']);
            return;
          }
          expect(message.jsonrpc).toBe('2.0');
          expect('result' in message).not.toBe('error' in message);
          const id = (readBody(sent) as { id?: Json } | null | undefined)?.id;
          if (message.id !== null) expect(message.id).toBe(id);
          if ('result' in message) expect(message.id).not.toBeNull();
          else expect(message.error).toMatchObject({ code: expect.any(Number), message: expect.any(String) });
        }),
        { numRuns: RUNS },
      );
      // A generator that only ever made rubbish would prove little.
      expect(seen.get('200')).toBeGreaterThan(RUNS / 10);
      expect(seen.get('202')).toBeGreaterThan(RUNS / 100);
      expect(seen.get('400')).toBeGreaterThan(RUNS / 10);
    },
  );
});

/** Bytes that the endpoint refuses before it looks at what they mean. */
function isRefused({ body }: Sent): boolean {
  const text = body.toString();
  return text.includes('\ufffd') || /^\s*\uFEFF/.test(text) || text.length > 1_000_000;
}

async function withinTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer: the server hangs')), HANG_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
