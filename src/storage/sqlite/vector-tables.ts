/**
 * Vectors of excerpts. They are kept by *slot*, the number that the search index gives to one excerpt of one reading of a
 * document and never again (search-tables.ts): a vector can be out of use, but never of another text. So rows are only ever
 * added, searching threads read what came after the last `seq` they saw, and what no live document owns is cleared later.
 */
export const vectorTables: readonly string[] = [
  `create table vector_models (
    model integer primary key autoincrement, name text not null unique,
    -- Where the model is, without its key: questions are asked of it while the next one is built.
    source text not null,
    dimensions integer,
    -- building: covers the library bit by bit; serving: searches use it; dropping: replaced, its vectors are being removed.
    state text not null check (state in ('building', 'serving', 'dropping')),
    -- Every excerpt below this slot was offered to the model.
    done_slot integer not null default 0,
    -- Excerpts that the model refused.
    refused integer not null default 0,
    trouble text)`,
  `create unique index vector_models_serving on vector_models (state) where state = 'serving'`,
  `create table chunk_vectors (
    seq integer primary key autoincrement, model integer not null, slot integer not null,
    -- Little-endian 32-bit words, and 8-bit whole numbers (search/vectors/quantise.ts).
    bits blob not null, int8 blob not null, scale real not null)`,
  `create unique index chunk_vectors_slot on chunk_vectors (model, slot)`,
];
