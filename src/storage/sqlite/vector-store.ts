/** Keeps vectors beside the embedded index, on a connection of its own with short transactions. */
import Sqlite, { type Database } from 'better-sqlite3';
import type { Passage, VectorModel, VectorStore } from '../../search/vectors/types.ts';

const SWEPT_ROWS = 2_000;

interface ModelRow extends Omit<VectorModel, 'source'> {
  source: string;
}

/** Opens the vectors of a database file. The worker writes; `serve` only reads. */
export function openVectorStore(databasePath: string, options: { readonly?: boolean } = {}): VectorStore {
  const db = new Sqlite(databasePath, { fileMustExist: true, readonly: options.readonly ?? false });
  db.pragma('busy_timeout = 5000');
  db.pragma('cache_size = -4000');
  // Vectors and how far they are go together: what a power cut takes is made again.
  if (!options.readonly) db.pragma('synchronous = NORMAL');
  return vectorStoreOver(db);
}

export function vectorStoreOver(db: Database): VectorStore {
  const columns = 'select model as ref, name, source, dimensions, state, trouble from vector_models';
  const sql = {
    models: db.prepare(`${columns} where state <> 'dropping' order by state = 'serving' desc, model`),
    insert: db.prepare(`insert into vector_models (name, source, state) values (?, ?, ?)`),
    source: db.prepare(`update vector_models set source = ? where model = ?`),
    // Its name becomes free: the same model may be wanted again while its old vectors are being removed.
    drop: db.prepare(`update vector_models set state = 'dropping', name = name || '#' || model where model = ?`),
    serve: db.prepare(`update vector_models set state = 'serving' where model = ?`),
    trouble: db.prepare(`update vector_models set trouble = ? where model = ? and trouble is not ?`),
    doneSlot: db.prepare(`select done_slot from vector_models where model = ?`).pluck(),
    advance: db.prepare(`update vector_models set done_slot = ?, dimensions = ?, refused = refused + ? where model = ?`),
    // Slots of documents do not overlap: the one before may reach over the place that was reached. Scans have no excerpts.
    pending: db.prepare(`select document, first_slot as first, slots from search_documents
      where first_slot >= coalesce((select max(first_slot) from search_documents where first_slot <= @done), 0)
        and slots > 0 and first_slot + slots > @done order by first_slot limit @limit`),
    chunks: db.prepare(`select section, text from chunks where document = ? order by ref limit ? offset ?`),
    called: db.prepare(`select name, title from documents where ref = ?`),
    owner: db.prepare(`select first_slot + slots from search_documents where first_slot <= ? order by first_slot desc limit 1`).pluck(),
    put: db.prepare(`insert or replace into chunk_vectors (model, slot, bits, int8, scale) values (?, ?, ?, ?, ?)`),
    covered: db.prepare(`select coalesce(sum(slots), 0) as excerpts,
        coalesce(sum(max(0, min(slots, (select done_slot from vector_models where model = @model) - first_slot))), 0) as done
      from search_documents`),
    refused: db.prepare(`select refused from vector_models where model = ?`).pluck(),
    dropping: db.prepare(`select model from vector_models where state = 'dropping' limit 1`).pluck(),
    removeOf: db.prepare(`delete from chunk_vectors where seq in (select seq from chunk_vectors where model = ? limit ${SWEPT_ROWS})`),
    forget: db.prepare(`delete from vector_models where model = ?`),
    rows: db.prepare(`select seq, slot from chunk_vectors where seq > ? order by seq limit ${SWEPT_ROWS}`),
    remove: db.prepare(`delete from chunk_vectors where seq = ?`),
  };
  let sweptSeq = 0;
  const isOwned = (slot: number): boolean => ((sql.owner.get(slot) as number | undefined) ?? 0) > slot;
  const models = (): VectorModel[] =>
    (sql.models.all() as ModelRow[]).map((row) => ({ ...row, source: JSON.parse(row.source) as unknown }));

  return {
    models,

    choose: (name, source) =>
      db
        .transaction(() => {
          const known = models();
          const text = JSON.stringify(source);
          const wanted = known.find((model) => model.name === name);
          // One without dimensions never answered, such as a name with a typing error: it serves nothing.
          const givenUp = known.filter((model) => model !== wanted && (model.state === 'building' || model.dimensions === null));
          for (const model of givenUp) sql.drop.run(model.ref);
          if (wanted) sql.source.run(text, wanted.ref);
          const ref = wanted?.ref ?? Number(sql.insert.run(name, text, 'building').lastInsertRowid);
          if (!models().some((model) => model.state === 'serving')) sql.serve.run(ref);
        })
        .immediate(),

    next: (model, limit) => {
      const done = sql.doneSlot.get(model) as number;
      const passages: Passage[] = [];
      for (const row of sql.pending.all({ done, limit })) {
        const { document, first, slots } = row as { document: number; first: number; slots: number };
        const from = Math.max(0, done - first);
        const wanted = Math.min(slots - from, limit - passages.length);
        if (wanted <= 0) break;
        const called = (sql.called.get(document) as Pick<Passage, 'name' | 'title'> | undefined) ?? { name: '', title: null };
        const chunks = sql.chunks.all(document, wanted, from) as { section: string | null; text: string }[];
        chunks.forEach((chunk, i) => passages.push({ slot: first + from + i, ...called, ...chunk }));
      }
      return passages;
    },

    put: (model, dimensions, vectors) =>
      db
        .transaction(() => {
          let refused = 0;
          for (const { slot, made } of vectors) {
            if (made === null) refused++;
            // The document may have been replaced or removed while its vectors were made.
            else if (isOwned(slot)) sql.put.run(model, slot, asBytes(made.bits), asBytes(made.int8), made.scale);
          }
          const last = vectors.at(-1);
          if (last) sql.advance.run(last.slot + 1, dimensions, refused, model);
        })
        .immediate(),

    promote: (model) =>
      db
        .transaction(() => {
          const done = sql.doneSlot.get(model) as number;
          if (sql.pending.all({ done, limit: 1 }).length > 0) return false;
          for (const other of models()) if (other.state === 'serving' && other.ref !== model) sql.drop.run(other.ref);
          sql.serve.run(model);
          return true;
        })
        .immediate(),

    coverage: (model) => ({
      ...(sql.covered.get({ model }) as { done: number; excerpts: number }),
      refused: (sql.refused.get(model) as number | undefined) ?? 0,
    }),

    setTrouble: (model, trouble) => void sql.trouble.run(trouble, model, trouble),

    sweep: () => {
      const dropping = sql.dropping.get() as number | undefined;
      if (dropping !== undefined) {
        const { changes } = sql.removeOf.run(dropping);
        if (changes < SWEPT_ROWS) sql.forget.run(dropping);
        return true;
      }
      const rows = sql.rows.all(sweptSeq) as { seq: number; slot: number }[];
      const unused = rows.filter(({ slot }) => !isOwned(slot));
      if (unused.length > 0) db.transaction(() => unused.forEach(({ seq }) => sql.remove.run(seq))).immediate();
      // Round and round: each call looks at a part of the table.
      sweptSeq = rows.length < SWEPT_ROWS ? 0 : rows.at(-1)!.seq;
      return rows.length === SWEPT_ROWS;
    },

    close: () => db.close(),
  };
}

const asBytes = (array: Uint32Array | Int8Array): Buffer => Buffer.from(array.buffer, array.byteOffset, array.byteLength);

