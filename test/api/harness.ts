import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import pino from 'pino';
import type { UserActor } from '../../src/access/actor.ts';
import { startLogin } from '../../src/access/sessions.ts';
import { registerConsoleDoor } from '../../src/doors/console/door.ts';
import type { ConsolePorts } from '../../src/doors/console/ports.ts';
import { createRateLimits, type RateLimitSettings } from '../../src/doors/http-limits.ts';
import { createHttpMetrics } from '../../src/doors/http-metrics.ts';
import { createHttpServer } from '../../src/doors/http-server.ts';
import { openTestLibrary, type TestLibrary } from '../support/library.ts';

export type Person = UserActor & { rootId: string; token: string };
// Tests read what they expect; the shapes are pinned by the schemas.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export interface Console {
  app: FastifyInstance;
  library: TestLibrary;
  lines: string[];
  person(name: string, role?: 'admin' | 'member'): Promise<Person>;
  /** A call to `/api/v1`; `who` sends a bearer token. */
  call(
    who: { token: string } | string | null,
    method: string,
    path: string,
    more?: { body?: unknown; headers?: Record<string, string> },
  ): Promise<LightMyRequestResponse>;
  upload(
    who: Person,
    folderId: string,
    files: [name: string, content: string][],
    query?: string,
  ): Promise<LightMyRequestResponse>;
  close(): Promise<void>;
}

export interface ConsoleOptions {
  publicUrl?: string;
  ports?: Partial<ConsolePorts>;
  rates?: Partial<RateLimitSettings>;
  allowedOrigins?: string[];
}

/** The real server and door over the real embedded library; only what draws and searches is a stand-in. */
export async function openConsole(options: ConsoleOptions = {}): Promise<Console> {
  const library = await openTestLibrary();
  const publicUrl = options.publicUrl ?? 'http://127.0.0.1:8080';
  const lines: string[] = [];
  const app = createHttpServer({
    config: { publicUrl, host: '127.0.0.1', allowedOrigins: options.allowedOrigins ?? [] },
    log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
    metrics: createHttpMetrics(),
    readiness: async () => ({ ready: true, checks: {} }),
  });
  const ports: ConsolePorts = {
    search: async () => ({ results: [], count: 0, nextOffset: null }),
    explain: async () => ({ words: [], inScope: 0, matched: 0, droppedByDepth: 0, phrases: [], candidates: [] }),
    viewPage: async () => ({ bytes: new Uint8Array([1, 2, 3]), sha256: 'abc', name: 'page.png' }),
    busyDocuments: async () => [],
    health: async () => ({ checks: { sandbox: { ok: true } }, notices: [] }),
    ...options.ports,
  };
  const limits = createRateLimits(
    { callsPerMinute: 1_000_000, badCredentialsPerMinute: 1_000_000, ...options.rates },
    library.clock,
  );
  await registerConsoleDoor(app, { library, ports, limits, clock: library.clock, publicUrl, version: '0.0.0' });
  await app.ready();

  const call: Console['call'] = (who, method, path, { body, headers = {} } = {}) => {
    const token = typeof who === 'string' ? who : who?.token;
    return app.inject({
      method: method as InjectOptions['method'],
      url: `/api/v1${path}`,
      headers: { host: '127.0.0.1', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(body === undefined ? {} : { payload: body as InjectOptions['payload'] }),
    });
  };
  return {
    app,
    library,
    lines,
    call,
    async person(name, role) {
      const person = await library.person(name, role);
      const { token } = await library.storage.transaction((stores) => startLogin(library, stores, person.user.ref));
      return { ...person, token };
    },
    async upload(who, folderId, files, query = '') {
      const { payload, type } = await form(files);
      return call(who, 'POST', `/folders/${folderId}/documents${query}`, {
        body: payload,
        headers: { 'content-type': type },
      });
    },
    async close() {
      await app.close();
      await library.close();
    },
  };
}

/** A multipart body as a browser makes it. */
export async function form(
  files: [name: string, content: string][],
  field = 'file',
): Promise<{ payload: Buffer; type: string }> {
  const data = new FormData();
  for (const [name, content] of files) data.append(field, new File([content], name));
  const response = new Response(data);
  return { payload: Buffer.from(await response.arrayBuffer()), type: response.headers.get('content-type') ?? '' };
}
