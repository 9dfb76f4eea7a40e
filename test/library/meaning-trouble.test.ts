/** Search by meaning as a running Sergo has it: what people are told of its trouble, and a local model that is ready before it is asked. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { api, firstAdmin, processed, type Admin } from '../support/api-client.ts';
import { startFakeModels, type FakeModels } from '../support/fake-models.ts';
import { descendants } from '../support/process-watch.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import { writeTinyModel } from '../support/tiny-model.ts';

const PATIENCE = { timeout: 60_000, interval: 200 };
let sergo: RunningSergo;
let ava: Admin;
afterEach(async () => {
  await sergo.stop();
});

async function start(env: Record<string, string>): Promise<void> {
  sergo = await startSergo({ env });
  ava = await firstAdmin(sergo);
}
async function upload(files: Record<string, string>): Promise<void> {
  const { body } = await ava.api.upload(ava.folderId, files);
  for (const { id } of body.documents as { id: string }[]) await processed(ava.api, id);
}

describe('trouble with models', { timeout: 180_000 }, () => {
  let fake: FakeModels;
  beforeEach(async () => {
    fake = await startFakeModels();
  });
  afterEach(() => fake.close());

  test('is among the notices of health while it lasts, for those who are signed in', async () => {
    await start({ SERGO_EMBEDDINGS_URL: fake.url, SERGO_EMBEDDINGS_MODEL: 'fake', SERGO_RERANK_URL: fake.url, SERGO_RERANK_MODEL: 'fake' });
    const notices = async (): Promise<string[]> => {
      const { status, body } = await ava.api.get('/health');
      expect([status, Object.keys(body)]).toEqual([200, ['ok', 'checks', 'notices']]);
      return (body.notices as string[]).filter((notice) => /^(search by meaning|reranking): /.test(notice));
    };
    expect(await notices()).toEqual([]);
    fake.always = 'unauthorised';
    await upload({ 'a.txt': 'Solar power in the south.', 'b.txt': 'Wind power in the north.' });
    await expect.poll(notices, PATIENCE).toEqual([expect.stringMatching(/^search by meaning: The embeddings endpoint does not accept the key that is set \(401\)/)]);
    expect((await ava.api.get('/search?q=power')).body).toHaveLength(2);
    expect(await notices()).toEqual([expect.stringMatching(/^search by meaning: /), expect.stringMatching(/^reranking: The rerank endpoint does not accept the key that is set \(401\)/)]);
    expect((await api(sergo.url).get('/health')).status).toBe(401);

    fake.always = null;
    await ava.api.get('/search?q=power');
    await expect.poll(notices, PATIENCE).toEqual([]);
  });
});

describe('a local model', { timeout: 180_000 }, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sergo-tiny-'));
    writeTinyModel(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('runs before the first question, which is answered by words and meaning, and again after it has crashed', async () => {
    await start({ SERGO_EMBEDDINGS: `local:${folder}` });
    /** Of the server itself, not of its worker. */
    const model = (): number | undefined =>
      descendants(sergo.pid).find(({ parent, command }) => parent === sergo.pid && command.some((part) => part.endsWith('/local-model.ts')))?.pid;
    await expect.poll(model, PATIENCE).toBeDefined();
    const first = model()!;
    process.kill(first, 'SIGKILL');
    await expect.poll(() => [undefined, first].includes(model()), PATIENCE).toBe(false);

    await upload({ 'a.txt': 'Solar power plant.', 'b.txt': 'Interest rates rose.' });
    const db = new Sqlite(join(sergo.dataFolder, 'sergo.db'), { readonly: true });
    await expect.poll(() => db.prepare('select count(*) from chunk_vectors').pluck().get(), PATIENCE).toBe(2);
    db.close();
    // The server looks at the models once a second.
    await new Promise((done) => setTimeout(done, 1_500));
    const { body } = await ava.api.get('/search?q=solar&explain=1');
    expect((body.candidates as { why: { vectorRank: number | null } }[]).map(({ why }) => why.vectorRank)).toEqual([1, 2]);
  });
});
