import { createHmac } from 'node:crypto';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fakeClock, openTestLibrary, type TestLibrary } from '../../test/support/library.ts';
import type { Actor } from '../access/actor.ts';
import { getDocument } from '../library/documents.ts';
import type { AuditRow, AuditStore, Storage } from '../storage/ports.ts';
import { canonicalForm, chainHash, chainKeyOf, GENESIS } from './chain.ts';
import { csvCell } from './export.ts';
import { loadAuditKey } from './key.ts';
import { openAudit } from './log.ts';
import { verifyChain } from './verify.ts';

const key = Buffer.alloc(32, 7);
const secret = chainKeyOf(key);
const forged = chainKeyOf(Buffer.alloc(32, 8));
const actor: Actor = { kind: 'system', name: 'worker', requestId: 'r1' };

let lib: TestLibrary;
beforeEach(async () => {
  lib = await openTestLibrary();
});
afterEach(() => lib.close());

describe('recording', () => {
  test('rows that wait in the same turn share one commit, in order, each resolved when durable', async () => {
    const commit = vi.spyOn(lib.storage, 'appendAudit');
    await Promise.all(Array.from({ length: 200 }, (_, at) => lib.audit.record({ actor, action: 'search', detail: `number ${at}` })));
    expect(commit).toHaveBeenCalledTimes(1);
    const rows = await lib.storage.audit.after(0, 500);
    expect(rows.map((row) => row.seq)).toEqual(Array.from({ length: 200 }, (_, at) => at + 1));
    expect(rows.map((row) => row.detail)).toEqual(Array.from({ length: 200 }, (_, at) => `number ${at}`));
    // Another connection sees them: they are in the file.
    const other = new Sqlite(join(lib.folder, 'sergo.db'), { readonly: true });
    expect(other.prepare('select count(*) from audit').pluck().get()).toBe(200);
    other.close();
    expect(await lib.audit.verify()).toMatchObject({ ok: true, rows: 200, fault: null });
  });

  test('a row that cannot be written is no answer: the caller hears of it, and so does whoever asked for a document', async () => {
    const ava = await lib.person('Ava Bennett');
    const broken = { ...lib.storage, appendAudit: () => Promise.reject(new Error('disk gone')) } as unknown as Storage;
    const audit = openAudit({ storage: broken, clock: fakeClock(), key });
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => audit.record({ actor, action: 'search' })));
    expect(outcomes.map((one) => one.status)).toEqual(['rejected', 'rejected', 'rejected']);
    await expect(getDocument({ ...lib, audit }, ava, 'unknown1')).rejects.toThrow('disk gone');
  });

  test('changes and reads from several processes make one chain', async () => {
    const second = openAudit({ storage: lib.storage, clock: lib.clock, key });
    const ava = await lib.person('Ava Bennett');
    await Promise.all([
      ...Array.from({ length: 20 }, (_, at) => lib.folderIn(ava, ava.rootId, `folder ${at}`)),
      ...Array.from({ length: 20 }, () => lib.audit.record({ actor, action: 'search' })),
      ...Array.from({ length: 20 }, () => second.record({ actor, action: 'text read' })),
    ]);
    expect(await lib.audit.verify()).toMatchObject({ ok: true, rows: 60 });
  });

  test('closing writes what waits', async () => {
    const waiting = lib.audit.record({ actor, action: 'search' });
    await lib.audit.close();
    expect((await lib.audit.head())?.seq).toBe(1);
    await waiting;
  });

  test('values from outside become one harmless line, cut to size (P38)', async () => {
    const hostile: Actor = { kind: 'anonymous', requestId: 'r\n2', endUser: `Bo\r\n\u001b[31madmin\u202e${'x'.repeat(1_000)}` };
    await lib.audit.record({ actor: hostile, action: 'mcp search', object: { kind: 'document', id: 'a\0b' }, detail: `q\n${'👩‍👩‍👧'.repeat(1_000_000)}\ud800` });
    const [row] = await lib.audit.list({}, 1);
    expect(row?.endUser).toMatch(/^Bo\\r\\n\\u\{1b\}\[31madmin\\u\{202e\}x+…$/);
    expect(Array.from(row?.endUser ?? '').length).toBe(256);
    expect(Array.from(row?.detail ?? '').length).toBeLessThanOrEqual(500);
    expect(row?.detail).toMatch(/^q\\n/);
    expect(row?.objectId).toBe('a\\u{0}b');
    expect(row?.requestId).toBe('r\\n2');
    expect(JSON.stringify(row)).not.toMatch(/\p{Cc}|[\u2028\u2029\u202e]/u);
  });
});

describe('export', () => {
  test('JSON lines and CSV carry every row, one line each, formulas neutralised', async () => {
    const details = ['plain', '=cmd()', '+1', '-1', '@sum', '\t=1', 'a "quoted", cell', ' =1', '\u{feff}=1'];
    for (const detail of details) await lib.audit.record({ actor, action: 'search', detail });
    const collect = async (format: 'jsonl' | 'csv'): Promise<string[]> => {
      const lines: string[] = [];
      for await (const line of lib.audit.export(format)) lines.push(line);
      return lines;
    };
    const json = (await collect('jsonl')).map((line) => JSON.parse(line) as AuditRow & { at: string });
    expect(json.map((row) => row.detail)).toEqual(details.map((detail) => detail.replace('\t', '\\t')));
    expect(json[0]?.at).toBe('2026-10-24T09:00:00.000Z');
    const csv = await collect('csv');
    expect(csv[0]).toBe('seq,at,actorKind,actorId,actor,masked,endUser,action,objectKind,objectId,detail,outcome,requestId,hash\r\n');
    expect(csv.length).toBe(details.length + 1);
    for (const line of csv.slice(1)) expect(line).not.toMatch(/(^|,)"?\s*[=+\-@]/);
    expect(csvCell('a "b"')).toBe('"a ""b"""');
    for (const formula of ['=1', '+1', '-1', '@a', '\tx', '\rx', ' =1', '\u{feff}=1']) expect(csvCell(formula)).toMatch(/^"'/);
  });
});

describe('the chain (P37)', () => {
  const row = (seq: number): Omit<AuditRow, 'hash'> => ({
    seq, at: 1_000 + seq, actorKind: 'user', actorId: 'u1', actor: 'Ava', masked: null, endUser: null, action: 'search', objectKind: null,
    objectId: null, detail: `number ${seq}`, outcome: 'ok', requestId: `r${seq}`,
  });
  function honestChain(length: number): AuditRow[] {
    const rows: AuditRow[] = [];
    let hash = GENESIS;
    for (let seq = 1; seq <= length; seq += 1) {
      hash = chainHash(secret, hash, row(seq));
      rows.push({ ...row(seq), hash });
    }
    return rows;
  }
  test('a row\'s hash is the HMAC of the standard library, short rows after long ones and whatever the text', () => {
    const texts = ['plain', '', '水 — ✓ 👩‍👩‍👧', 'x'.repeat(20_000), 'after the long one', '\ud800 alone', '"quoted"\n\u0000'];
    for (const bytes of [Buffer.alloc(32, 7), Buffer.alloc(64, 255), Buffer.from('short')]) {
      const chain = chainKeyOf(bytes);
      for (const detail of texts)
        for (const previous of [GENESIS, 'f'.repeat(64), 'not a hash ✓']) {
          const one = { ...row(1), detail };
          expect(chainHash(chain, previous, one)).toBe(createHmac('sha256', bytes).update(previous + canonicalForm(one)).digest('hex'));
        }
    }
    expect(() => chainKeyOf(Buffer.alloc(65))).toThrow('at most 64 bytes');
  });

  const storeOver = (rows: AuditRow[]): AuditStore => {
    const sorted = rows.toSorted((a, b) => a.seq - b.seq);
    return {
      head: async () => sorted.at(-1) ?? null,
      append: async () => undefined,
      list: async () => [],
      bySeq: async (seq) => sorted.find((one) => one.seq === seq) ?? null,
      asked: async () => null,
      after: async (seq, limit) => {
        const start = sorted.findIndex((one) => one.seq > seq);
        return start < 0 ? [] : sorted.slice(start, start + limit);
      },
    };
  };

  /** One tampering, and the seq of the first row that is not as it was. */
  function tamper(rows: AuditRow[], random: () => number): { kind: string; rows: AuditRow[]; firstBad: number } {
    const at = Math.floor(random() * (rows.length - 1));
    const copy = rows.map((one) => ({ ...one }));
    const seq = at + 1;
    const edits: Partial<AuditRow>[] = [
      { detail: `number ${seq} ` }, { at: 1 }, { actor: 'Bo' }, { actorId: null }, { outcome: 'denied' }, { endUser: '' }, { action: 'mcp search' },
      { requestId: 'other' }, { masked: 'sgk_s_…abcd' }, { objectKind: 'document', objectId: 'x' }, { hash: 'f'.repeat(64) }, { actorKind: 'system' },
    ];
    const kind = Math.floor(random() * 6);
    if (kind === 0) {
      Object.assign(copy[at]!, edits[Math.floor(random() * edits.length)]);
      return { kind: 'edit', rows: copy, firstBad: seq };
    }
    if (kind === 1) {
      copy.splice(at, 1);
      return { kind: 'delete', rows: copy, firstBad: seq };
    }
    if (kind === 2) {
      copy.splice(at, 1);
      for (const later of copy.slice(at)) later.seq -= 1;
      return { kind: 'delete and close the gap', rows: copy, firstBad: seq };
    }
    if (kind === 3) {
      for (const later of copy.slice(at)) later.seq += 1;
      copy.splice(at, 0, { ...row(seq), detail: 'never happened', hash: rows[at]!.hash });
      return { kind: 'insert', rows: copy, firstBad: seq };
    }
    if (kind === 4) {
      [copy[at]!.seq, copy[at + 1]!.seq] = [copy[at + 1]!.seq, copy[at]!.seq];
      return { kind: 'reorder', rows: copy, firstBad: seq };
    }
    // Rewritten from here on by somebody without the key.
    let hash = at === 0 ? GENESIS : copy[at - 1]!.hash;
    for (const later of copy.slice(at)) {
      if (later.seq === seq) later.detail = 'rewritten';
      hash = chainHash(forged, hash, later);
      later.hash = hash;
    }
    return { kind: 'rewrite', rows: copy, firstBad: seq };
  }

  function seeded(seed: number): () => number {
    let state = seed;
    return () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
  }

  test('500 random tamperings of 300 rows, and 6 of 10,000: each found, its row named', async () => {
    const random = seeded(20_261_024);
    const kinds = new Set<string>();
    for (const [length, times] of [[300, 500], [10_000, 6]] as const) {
      const honest = honestChain(length);
      expect(await verifyChain(storeOver(honest), secret)).toMatchObject({ ok: true, rows: length });
      for (let time = 0; time < times; time += 1) {
        const { kind, rows, firstBad } = tamper(honest, random);
        kinds.add(kind);
        const verdict = await verifyChain(storeOver(rows), secret);
        expect([verdict.ok, verdict.fault?.seq], `${kind} at ${firstBad}`).toEqual([false, firstBad]);
      }
    }
    expect(kinds.size).toBe(6);
  }, 120_000);

  test('a cut tail shows against a head exported earlier, and only so', async () => {
    const honest = honestChain(100);
    const { seq, hash } = honest.at(-1)!;
    const cut = storeOver(honest.slice(0, 90));
    expect(await verifyChain(cut, secret)).toMatchObject({ ok: true, rows: 90 });
    expect(await verifyChain(cut, secret, { seq, hash })).toMatchObject({ ok: false, fault: { seq: 91 } });
    expect(await verifyChain(storeOver(honest), secret, { seq: 50, hash: honest[49]!.hash })).toMatchObject({ ok: true });
    expect(await verifyChain(storeOver(honest), secret, { seq: 50, hash: 'f'.repeat(64) })).toMatchObject({ ok: false, fault: { seq: 50 } });
  });

  test('in the database itself: refused by triggers, and found when somebody takes those away', async () => {
    for (let at = 0; at < 20; at += 1) await lib.audit.record({ actor, action: 'search', detail: `number ${at}` });
    const db = new Sqlite(join(lib.folder, 'sergo.db'));
    expect(() => db.exec("update audit set detail = 'x' where seq = 7")).toThrow('append-only');
    expect(() => db.exec('delete from audit where seq = 7')).toThrow('append-only');
    db.exec("drop trigger audit_no_update; update audit set detail = 'x' where seq = 7");
    db.close();
    expect(await lib.audit.verify()).toMatchObject({ ok: false, fault: { seq: 7 } });
  });
});

describe('the key', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sergo-audit-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('is made once, 0600, the same for processes that start together, and never anew over existing rows', async () => {
    await expect(loadAuditKey(folder, { mayCreate: false })).rejects.toThrow('restore it from a backup');
    const made = await Promise.all([1, 2, 3, 4].map(() => loadAuditKey(folder, { mayCreate: true })));
    expect(new Set(made.map((one) => Buffer.from(one).toString('hex'))).size).toBe(1);
    expect(made[0]?.length).toBe(32);
    const path = join(folder, 'secrets', 'audit.key');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await loadAuditKey(folder, { mayCreate: false })).toEqual(made[0]);
    await writeFile(path, 'short');
    await expect(loadAuditKey(folder, { mayCreate: true })).rejects.toThrow('damaged');
  });
});
