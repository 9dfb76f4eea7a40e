/** A model server for tests on a free loopback port: real wire formats, and every way to be in trouble. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Trouble =
  | 'hang'
  | 'slow-body'
  | 'limited'
  | 'error-500'
  | 'cut'
  | 'not-json'
  | 'wrong-shape'
  | 'fewer'
  | 'wrong-dimension'
  | 'not-finite'
  | 'zero'
  | 'huge'
  | 'huge-announced'
  | 'redirect'
  | 'unauthorised'
  | 'unfit'
  | 'reset';

export interface SeenCall {
  path: string;
  body: { model?: string; input?: string[]; query?: string; documents?: string[]; top_n?: number; encoding_format?: string };
  authorization: string | undefined;
  atMs: number;
}

export interface FakeModels {
  /** Ends in /v1. */
  url: string;
  calls: SeenCall[];
  /** One entry a call, in order; calls after the last one are answered well, unless `always` is set. */
  troubles: Trouble[];
  always: Trouble | null;
  /** Trouble with what a call says, whenever it says so. */
  troubleOf: ((body: SeenCall['body']) => Trouble | null) | null;
  dimensions: number;
  /** Bytes of answer bodies that were taken from the server. */
  sentBytes: number;
  close(): Promise<void>;
}

export async function startFakeModels(dimensions = 32): Promise<FakeModels> {
  const fake: Omit<FakeModels, 'url' | 'close'> = { calls: [], troubles: [], always: null, troubleOf: null, dimensions, sentBytes: 0 };
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      fake.calls.push({ path: request.url ?? '', body, authorization: request.headers.authorization, atMs: performance.now() });
      const trouble = fake.troubles.shift() ?? fake.always ?? fake.troubleOf?.(body);
      if (trouble) misbehave(trouble, fake, body, response);
      else sendJson(response, goodAnswer(request.url ?? '', body, fake.dimensions));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return Object.assign(fake, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  });
}

async function readBody(request: IncomingMessage): Promise<SeenCall['body']> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString('utf8');
  return (text === '' ? {} : JSON.parse(text)) as SeenCall['body'];
}

function goodAnswer(path: string, body: SeenCall['body'], dimensions: number): object {
  if (path.endsWith('/rerank')) {
    const results = (body.documents ?? [])
      .map((text, index) => ({ index, relevance_score: overlap(body.query ?? '', text) }))
      .toSorted((a, b) => b.relevance_score - a.relevance_score);
    return { id: 'r-1', results, meta: { api_version: { version: '2' } } };
  }
  // Some servers answer out of order: `index` says which text a vector belongs to.
  const data = (body.input ?? []).map((text, index) => ({ object: 'embedding', index, embedding: wordVector(text, dimensions) }));
  return { object: 'list', data: data.toReversed(), model: body.model, usage: { prompt_tokens: 8, total_tokens: 8 } };
}

/** Texts that share words have vectors that are near each other: enough meaning for tests. */
export function wordVector(text: string, dimensions: number): number[] {
  const vector = Array.from<number>({ length: dimensions }).fill(0.001);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    let seed = 2166136261;
    for (let i = 0; i < word.length; i++) seed = Math.imul(seed ^ word.charCodeAt(i), 16777619);
    for (let i = 0; i < dimensions; i++) {
      seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
      vector[i]! += seed / 2 ** 31;
    }
  }
  return vector;
}

function overlap(query: string, text: string): number {
  const words = new Set(query.toLowerCase().match(/\p{L}+/gu) ?? []);
  const found = (text.toLowerCase().match(/\p{L}+/gu) ?? []).filter((word) => words.has(word)).length;
  return found / (1 + words.size);
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function misbehave(trouble: Trouble, fake: Omit<FakeModels, 'url' | 'close'>, body: SeenCall['body'], response: ServerResponse): void {
  const texts = body.input ?? [];
  const vectors = (make: (text: string) => number[]): object => ({ object: 'list', data: texts.map((text, index) => ({ index, embedding: make(text) })) });
  const json = { 'content-type': 'application/json' };
  switch (trouble) {
    case 'hang':
      return;
    case 'slow-body':
      response.writeHead(200, json).write('{"object":');
      return;
    case 'limited':
      response.writeHead(429, { ...json, 'retry-after': '1' }).end('{"error":{"message":"slow down"}}');
      return;
    case 'error-500':
      response.writeHead(500, json).end('{"error":{"message":"secret-of-the-endpoint"}}');
      return;
    case 'cut':
      response.writeHead(200, { ...json, 'content-length': '100000' }).write('{"object":"list","data":[');
      setTimeout(() => response.destroy(), 20);
      return;
    case 'reset':
      response.destroy();
      return;
    case 'not-json':
      response.writeHead(200, json).end('<html>It works!</html>');
      return;
    case 'wrong-shape':
      return sendJson(response, { data: [{ embedding: 'AAAA' }], results: [{ index: 'a' }] });
    case 'fewer':
      return sendJson(response, { object: 'list', data: [], results: [] });
    case 'wrong-dimension':
      return sendJson(response, vectors((text) => wordVector(text, fake.dimensions + 1)));
    case 'not-finite':
      // JSON has no infinity, but numbers beyond a 32-bit float.
      response.writeHead(200, json).end(JSON.stringify(vectors((text) => wordVector(text, fake.dimensions))).replace('0.0', '1e300'));
      return;
    case 'zero':
      return sendJson(response, vectors(() => Array.from<number>({ length: fake.dimensions }).fill(0)));
    case 'redirect':
      response.writeHead(307, { location: 'http://127.0.0.1:9/v1/embeddings' }).end();
      return;
    case 'unauthorised':
      response.writeHead(401, json).end('{"error":{"message":"bad key"}}');
      return;
    case 'unfit':
      response.writeHead(422, json).end('{"error":{"message":"secret-of-the-endpoint"}}');
      return;
    case 'huge':
    case 'huge-announced': {
      const length = 100 * 1024 ** 2;
      response.writeHead(200, trouble === 'huge' ? json : { ...json, 'content-length': String(length) });
      const part = Buffer.alloc(64 * 1024, ' ');
      const more = (): void => {
        for (; fake.sentBytes < length && !response.destroyed; ) {
          fake.sentBytes += part.length;
          if (!response.write(part)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
      return;
    }
  }
}
