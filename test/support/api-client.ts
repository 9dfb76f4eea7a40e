/** A small client of the console's API (`/api/v1`) for tests. */
import { randomBytes } from 'node:crypto';
import type { RunningSergo } from './running-sergo.ts';

export interface Answer<T> {
  status: number;
  headers: Headers;
  /** Parsed JSON, or null for an empty body. */
  body: T;
}

// Tests read what they expect; the shapes are pinned by the API's own tests.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export interface ApiClient {
  url: string;
  token: string | null;
  call<T = Json>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Answer<T>>;
  get<T = Json>(path: string): Promise<Answer<T>>;
  post<T = Json>(path: string, body: unknown): Promise<Answer<T>>;
  patch<T = Json>(path: string, body: unknown): Promise<Answer<T>>;
  delete<T = Json>(path: string): Promise<Answer<T>>;
  /** `POST /folders/{id}/documents`: one multipart request with these files. */
  upload<T = Json>(
    folderId: string,
    files: Record<string, Uint8Array | string>,
    signal?: AbortSignal,
  ): Promise<Answer<T>>;
  /** The raw answer, for pictures and originals. */
  raw(path: string, init?: RequestInit): Promise<Response>;
}

/** `url` as in the ready line; paths are below `/api/v1`. Nothing throws for an error status: look at `status`. */
export function api(url: string, token: string | null = null): ApiClient {
  const authorization: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const raw = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${url}/api/v1${path}`, {
      ...init,
      headers: { ...authorization, ...(init.headers as Record<string, string>) },
    });
  const answer = async <T>(response: Response): Promise<Answer<T>> => {
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: (text === '' ? null : JSON.parse(text)) as T };
  };
  const call = async <T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Answer<T>> =>
    answer<T>(
      await raw(path, {
        method,
        ...(signal ? { signal } : {}),
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }),
    );
  return {
    url,
    token,
    raw,
    call,
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    patch: (path, body) => call('PATCH', path, body),
    delete: (path) => call('DELETE', path),
    async upload(folderId, files, signal) {
      const { body, type } = multipart(files);
      const init = { method: 'POST', body, headers: { 'content-type': type }, ...(signal ? { signal } : {}) };
      return answer(await raw(`/folders/${folderId}/documents?preset=basic`, init));
    },
  };
}

/** Written by hand: a FormData body throws outside of any promise when its connection is cut. */
function multipart(files: Record<string, Uint8Array | string>): { body: Uint8Array<ArrayBuffer>; type: string } {
  const boundary = `sergo-${randomBytes(12).toString('hex')}`;
  const parts = Object.entries(files).flatMap(([name, content]) => [
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name.replaceAll('"', '%22')}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
    ),
    Buffer.from(content as Uint8Array),
    Buffer.from('\r\n'),
  ]);
  return {
    body: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]),
    type: `multipart/form-data; boundary=${boundary}`,
  };
}

export const adminCredentials = {
  name: 'Ava Bennett',
  email: 'ava@example.com',
  password: 'a long enough passphrase 7',
};

export interface Admin {
  api: ApiClient;
  userId: string;
  /** The owner's root, `Ava Bennett's documents`. */
  folderId: string;
}

/** Makes the first admin with the set-up token that `serve` printed. */
export async function firstAdmin(sergo: RunningSergo): Promise<Admin> {
  const { status, body } = await api(sergo.url).post('/setup', { token: sergo.setupToken, ...adminCredentials });
  if (status !== 201) throw new Error(`setup answered ${status}: ${JSON.stringify(body)}`);
  return { api: api(sergo.url, body.token), userId: body.userId, folderId: body.folderId };
}

export async function logIn(
  url: string,
  credentials: { email: string; password: string } = adminCredentials,
): Promise<ApiClient> {
  const { status, body } = await api(url).post('/login', { email: credentials.email, password: credentials.password });
  if (status !== 200) throw new Error(`login answered ${status}: ${JSON.stringify(body)}`);
  return api(url, body.token);
}

/** Waits until the document is no longer `processing` and answers it. */
export async function processed(client: ApiClient, documentId: string, patienceMs = 120_000): Promise<Json> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const { status, body } = await client.get(`/documents/${documentId}`);
    if (status !== 200) throw new Error(`document ${documentId} answered ${status}: ${JSON.stringify(body)}`);
    if (body.status !== 'processing') return body;
    if (performance.now() > deadline)
      throw new Error(`document ${documentId} is still processing: ${JSON.stringify(body)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
