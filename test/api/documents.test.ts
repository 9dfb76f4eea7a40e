import { connect, type AddressInfo } from 'node:net';
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { form, openConsole, type Console, type Json, type Person } from './harness.ts';

let sergo: Console;
let ava: Person;

beforeAll(async () => {
  sergo = await openConsole();
  ava = await sergo.person('Ava Bennett', 'admin');
});
afterAll(() => sergo.close());

/** Every file under the blob folder, unfinished ones included. */
const blobFiles = async (): Promise<number> =>
  (await readdir(join(sergo.library.folder, 'blobs'), { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  ).length;

describe('folders', () => {
  it('are made, shown, renamed, moved, thrown away and brought back', async () => {
    const made = await sergo.call(ava, 'POST', '/folders', { body: { name: 'Energy outlooks', parentId: ava.rootId } });
    expect(made.statusCode).toBe(201);
    const { id } = made.json();
    expect(made.json()).toEqual({
      id,
      name: 'Energy outlooks',
      path: "Ava Bennett's documents/Energy outlooks",
      parentId: ava.rootId,
    });
    const inner = (await sergo.call(ava, 'POST', '/folders', { body: { name: 'Basic', parentId: id } })).json();
    expect((await sergo.call(ava, 'GET', `/folders/${id}`)).json()).toMatchObject({
      folders: [{ id: inner.id }],
      documents: [],
      documentCount: 0,
    });
    expect((await sergo.call(ava, 'GET', '/folders')).json().folders).toMatchObject([{ id: ava.rootId }]);
    const tree = (await sergo.call(ava, 'GET', '/folders?tree=true')).json().folders;
    expect(tree).toMatchObject([
      { id: ava.rootId, parentId: null },
      { id, parentId: ava.rootId },
      { id: inner.id, parentId: id },
    ]);
    const moved = await sergo.call(ava, 'PATCH', `/folders/${inner.id}`, {
      body: { name: 'Advanced', parentId: ava.rootId },
    });
    expect(moved.json()).toMatchObject({ path: "Ava Bennett's documents/Advanced" });
    expect((await sergo.call(ava, 'DELETE', `/folders/${inner.id}`)).statusCode).toBe(204);
    expect((await sergo.call(ava, 'GET', `/folders/${inner.id}`)).statusCode).toBe(404);
    expect((await sergo.call(ava, 'GET', '/trash')).json().folders).toMatchObject([
      { id: inner.id, trashed: expect.any(String) },
    ]);
    expect((await sergo.call(ava, 'POST', `/folders/${inner.id}/restore`)).json()).toMatchObject({ id: inner.id });
    expect((await sergo.call(ava, 'DELETE', `/folders/${inner.id}?purge=true`)).statusCode).toBe(204);
    expect((await sergo.call(ava, 'POST', `/folders/${inner.id}/restore`)).statusCode).toBe(404);
  });

  it('say what is wrong with a name', async () => {
    for (const name of ['', '..', 'a/b', '\u200b', 'x'.repeat(121)]) {
      const answer = await sergo.call(ava, 'POST', '/folders', { body: { name, parentId: ava.rootId } });
      expect([name, answer.statusCode, answer.json().field]).toEqual([name, 400, 'name']);
    }
    const body = { name: 'Twice', parentId: ava.rootId };
    await sergo.call(ava, 'POST', '/folders', { body });
    expect((await sergo.call(ava, 'POST', '/folders', { body })).json()).toMatchObject({ code: 'conflict' });
    expect((await sergo.call(ava, 'POST', '/folders', { body: { ...body, colour: 'red' } })).json()).toMatchObject({
      code: 'invalid',
      field: 'colour',
    });
  });
});

describe('upload', () => {
  it('takes several files at once, byte for byte, names in any script', async () => {
    const text = 'Ωmega '.repeat(50_000);
    const answer = await sergo.upload(
      ava,
      ava.rootId,
      [
        ['Übersicht 2023.txt', text],
        ['second.md', '# Two'],
      ],
      '?preset=basic',
    );
    expect(answer.statusCode).toBe(202);
    const { documents, failed } = answer.json();
    expect(failed).toEqual([]);
    expect(documents).toMatchObject([
      { name: 'Übersicht 2023.txt', status: 'processing' },
      { name: 'second.md', status: 'processing' },
    ]);
    const [first] = documents;
    expect(first).toMatchObject({
      sha256: createHash('sha256').update(text).digest('hex'),
      bytes: Buffer.byteLength(text),
      pdfCopy: 'none',
      ref: expect.any(Number),
    });
    const file = await sergo.call(ava, 'GET', `/documents/${first.id}/file`);
    expect([file.statusCode, file.body]).toEqual([200, text]);
    expect(file.headers['content-disposition']).toContain(`filename*=UTF-8''%C3%9Cbersicht%202023.txt`);
    expect(file.headers['content-security-policy']).toBe("default-src 'none'; sandbox");
    const part = await sergo.call(ava, 'GET', `/documents/${first.id}/file`, { headers: { range: 'bytes=0-5' } });
    expect([part.statusCode, part.rawPayload.toString()]).toEqual([206, 'Ωmega']);
    const known = await sergo.call(ava, 'GET', `/documents/${first.id}/file`, {
      headers: { 'if-none-match': String(file.headers.etag) },
    });
    expect(known.statusCode).toBe(304);
    const head = await sergo.call(ava, 'HEAD', `/documents/${first.id}/file`);
    expect([head.statusCode, head.headers['content-length'], head.body]).toEqual([
      200,
      String(Buffer.byteLength(text)),
      '',
    ]);
  });

  it('is refused as a whole when nothing can be taken', async () => {
    const post = (path: string, payload: Buffer | string, type: string, headers = {}) =>
      sergo.call(ava, 'POST', path, { body: payload, headers: { 'content-type': type, ...headers } });
    const path = `/folders/${ava.rootId}/documents`;
    const { payload, type } = await form([['a.txt', 'a']]);
    expect((await post(`${path}?preset=magic`, payload, type)).json()).toMatchObject({
      code: 'invalid',
      field: 'preset',
      message: expect.stringContaining('basic'),
    });
    expect((await post('/folders/nowhere1/documents', payload, type)).statusCode).toBe(404);
    expect((await post(path, '{}', 'application/json')).json()).toMatchObject({ code: 'wrong_type' });
    const other = await form([['a.txt', 'a']], 'attachment');
    expect((await post(path, other.payload, other.type)).json()).toMatchObject({ code: 'invalid', field: 'file' });
    const none = await form([]);
    expect((await post(path, none.payload, none.type)).json()).toMatchObject({ code: 'invalid', field: 'file' });
  });

  it('takes what it can and says of each other file why not', async () => {
    const limits = sergo.library.limits;
    const before = limits.maxFileBytes;
    limits.maxFileBytes = 1_000;
    try {
      const answer = await sergo.upload(ava, ava.rootId, [
        ['small.txt', 'small'],
        ['large.txt', 'x'.repeat(5_000)],
        ['last.txt', 'last'],
      ]);
      expect(answer.statusCode).toBe(202);
      expect(answer.json().documents.map((one: { name: string }) => one.name)).toEqual(['small.txt', 'last.txt']);
      expect(answer.json().failed).toMatchObject([{ name: 'large.txt', code: 'too_large' }]);
      expect((await sergo.upload(ava, ava.rootId, [['large.txt', 'x'.repeat(5_000)]])).statusCode).toBe(413);
    } finally {
      limits.maxFileBytes = before;
    }
  });

  it('takes a file whose part has no filename, beside the others, and a replacement keeps its name', async () => {
    const part = (disposition: string, text: string) =>
      `--edge\r\nContent-Disposition: form-data; name="file"${disposition}\r\nContent-Type: application/octet-stream\r\n\r\n${text}\r\n`;
    const send = (path: string, ...parts: string[]) =>
      sergo.call(ava, 'POST', path, { body: `${parts.join('')}--edge--\r\n`, headers: { 'content-type': 'multipart/form-data; boundary=edge' } });
    const answer = await send(`/folders/${ava.rootId}/documents`, part('; filename="a.txt"', 'one'), part('', 'two'), part('; filename=""', 'three'));
    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toMatchObject({ documents: [{ name: 'a.txt' }, { name: 'untitled' }, { name: 'untitled' }], failed: [] });
    const { id } = answer.json().documents[0];
    for (const disposition of ['', '; filename=""', '; filename="b.txt"']) {
      const replaced = await send(`/documents/${id}/replace`, part(disposition, `new${disposition}`));
      expect([replaced.statusCode, replaced.json().name]).toEqual([202, disposition.includes('b.txt') ? 'b.txt' : 'a.txt']);
    }
    const { limits } = sergo.library;
    const before = limits.maxFileBytes;
    limits.maxFileBytes = 1_000;
    try {
      const refused = await send(`/folders/${ava.rootId}/documents`, part('; filename="c.txt"', 'four'), part('', 'x'.repeat(5_000)));
      expect(refused.json()).toMatchObject({ documents: [{ name: 'c.txt' }], failed: [{ name: 'untitled', code: 'too_large' }] });
    } finally {
      limits.maxFileBytes = before;
    }
  });

  it('over a connection, too, a file that is refused takes none of the others with it, and our fault is told as ours', async () => {
    const own = await openConsole();
    const bo = await own.person('Bo Larsen');
    const url = await own.app.listen({ host: '127.0.0.1', port: 0 });
    const send = async (files: [string, string][]) => {
      const { payload, type } = await form(files);
      const headers = { authorization: `Bearer ${bo.token}`, 'content-type': type };
      const answer = await fetch(`${url}/api/v1/folders/${bo.rootId}/documents`, { method: 'POST', headers, body: new Uint8Array(payload) });
      return { status: answer.status, body: (await answer.json()) as Json };
    };
    own.library.limits.maxFileBytes = 1_000;
    for (const size of [5_000, 500_000]) {
      const { status, body } = await send([['a.txt', `one ${size}`], ['b.txt', 'x'.repeat(size)], ['c.txt', `three ${size}`]]);
      expect([status, body.documents?.map((one: Json) => one.name)]).toEqual([202, ['a.txt', 'c.txt']]);
      expect(body.failed).toMatchObject([{ name: 'b.txt', code: 'too_large' }]);
    }
    own.library.blobs.put = () => Promise.reject(new Error('out of order'));
    expect(await send([['d.txt', 'four']])).toMatchObject({ status: 500, body: { code: 'internal' } });
    expect(own.lines.filter((line) => line.includes('out of order'))).toHaveLength(1);
    await own.close();
  });

  it('leaves nothing when the body breaks, and reads nothing of one that is too long', async () => {
    await sergo.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = sergo.app.server.address() as AddressInfo;
    const send = async (length: number, body: string, waits: boolean): Promise<string> => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(
        `POST /api/v1/folders/${ava.rootId}/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${ava.token}\r\n` +
          `Content-Type: multipart/form-data; boundary=edge\r\nContent-Length: ${length}\r\n\r\n${body}`,
      );
      let answer = '';
      socket.on('data', (chunk) => (answer += String(chunk)));
      if (waits) {
        await expect.poll(() => answer, { timeout: 20_000 }).toContain('"requestId"');
      } else {
        // Long enough for the server to be in the middle of it; how far it is makes no difference to what has to hold.
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      socket.destroy();
      return answer;
    };
    const files = await blobFiles();
    const names = async () => (await sergo.call(ava, 'GET', `/folders/${ava.rootId}`)).json().documentCount;
    const count = await names();
    const part = (name: string, text: string) =>
      `--edge\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n${text}\r\n`;
    // The client goes away in the middle of a file; after one whole file; and with a body that ends before its last boundary.
    await send(1_000_000, part('half.txt', 'x'.repeat(100_000)).slice(0, -50), false);
    await send(1_000_000, part('whole.txt', 'first whole') + part('half.txt', 'half').slice(0, -4), false);
    const unfinished = part('whole.txt', 'whole') + part('half.txt', 'half').slice(0, -4);
    expect(await send(unfinished.length, unfinished, true)).toMatch(/^HTTP\/1.1 400/);
    await expect.poll(names, { timeout: 20_000 }).toBe(count);
    await expect.poll(blobFiles, { timeout: 20_000 }).toBe(files);
    expect(await send(10_000_000_000, part('huge.txt', 'x'), true)).toMatch(/^HTTP\/1.1 413[^]*"code":"too_large"/);
  });
});

describe('documents', () => {
  it('are listed, renamed, moved, replaced, thrown away and brought back', async () => {
    const { id, sha256 } = (await sergo.upload(ava, ava.rootId, [['deck.pptx', 'one']])).json().documents[0];
    const folder = (
      await sergo.call(ava, 'POST', '/folders', { body: { name: 'Decks', parentId: ava.rootId } })
    ).json();
    const moved = await sergo.call(ava, 'PATCH', `/documents/${id}`, {
      body: { name: 'Deck 2023.pptx', folderId: folder.id },
    });
    expect(moved.json()).toMatchObject({
      id,
      name: 'Deck 2023.pptx',
      folder: "Ava Bennett's documents/Decks",
      folderId: folder.id,
    });
    const page = (await sergo.call(ava, 'GET', '/documents?limit=1')).json();
    expect(page).toMatchObject({ documents: [{ id }], nextOffset: 1 });
    expect((await sergo.call(ava, 'GET', `/documents?folderId=${folder.id}`)).json()).toMatchObject({
      total: 1,
      documents: [{ id }],
    });

    const { payload, type } = await form([['new.pptx', 'two']]);
    const replaced = await sergo.call(ava, 'POST', `/documents/${id}/replace`, {
      body: payload,
      headers: { 'content-type': type },
    });
    expect(replaced.statusCode).toBe(202);
    expect(replaced.json().sha256).not.toBe(sha256);
    expect((await sergo.call(ava, 'GET', `/documents/${id}/file`)).body).toBe('two');

    expect(
      (await sergo.call(ava, 'POST', `/documents/${id}/reprocess`, { body: { preset: 'basic' } })).statusCode,
    ).toBe(202);
    expect((await sergo.call(ava, 'POST', `/documents/${id}/reprocess`)).statusCode).toBe(202);
    expect((await sergo.call(ava, 'POST', `/documents/${id}/cancel`)).statusCode).toBe(200);
    expect((await sergo.call(ava, 'DELETE', `/documents/${id}`)).statusCode).toBe(204);
    expect((await sergo.call(ava, 'GET', `/documents/${id}/file`)).statusCode).toBe(404);
    expect((await sergo.call(ava, 'POST', `/documents/${id}/restore`)).json()).toMatchObject({ id });
    expect((await sergo.call(ava, 'DELETE', `/documents/${id}?purge=true`)).statusCode).toBe(204);
    expect((await sergo.call(ava, 'GET', `/documents/${id}`)).json()).toMatchObject({ code: 'not_found' });
  });

  it('answer malformed ids and pages with one sentence', async () => {
    const unknown = await sergo.call(ava, 'GET', '/documents/xM5gW8NZ');
    for (const id of ['x', "no'such--id", 'é'.repeat(300), '%00', '..%2f..%2fetc']) {
      const answer = await sergo.call(ava, 'GET', `/documents/${id.includes('%') ? id : encodeURIComponent(id)}`);
      expect([id, answer.statusCode, answer.json().message]).toEqual([id, 404, unknown.json().message]);
    }
    expect((await sergo.call(ava, 'GET', '/documents/xM5gW8NZ/pages/zero')).json()).toMatchObject({
      code: 'invalid',
      field: 'n',
    });
  });

  it('send pictures of pages that a browser shows and nothing else', async () => {
    const { id } = (await sergo.upload(ava, ava.rootId, [['a.txt', 'a']])).json().documents[0];
    const picture = await sergo.call(ava, 'GET', `/documents/${id}/pages/1.png`);
    expect([picture.statusCode, picture.headers['content-type'], picture.headers['content-disposition']]).toEqual([
      200,
      'image/png',
      'inline; filename="page.png"',
    ]);
    expect((await sergo.call(ava, 'GET', `/documents/${id}/pages/1.pdf`)).headers['content-type']).toBe(
      'application/pdf',
    );
    expect((await sergo.call(ava, 'GET', `/documents/${id}/pages/x.png`)).json()).toMatchObject({
      code: 'invalid',
      field: 'n',
    });
  });
});
