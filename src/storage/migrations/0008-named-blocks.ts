import { sql, type Kysely } from 'kysely';

/**
 * Up to version 0.6.0 a diacritic that stood alone became a term without a name, which came behind the titles' terms. Where a block of
 * terms began with it, the block was keyed by nothing, and the terms behind it were not found: it is keyed by the next of its terms.
 */
export const namedBlocks = {
  async up(db: Kysely<unknown>): Promise<void> {
    const { rows } = await sql<{ segment: number; data: Buffer }>`select segment, data from search_blocks where term = ''`.execute(db);
    for (const { segment, data } of rows) {
      const term = firstName(data);
      if (term === null) await sql`delete from search_blocks where segment = ${segment} and term = ''`.execute(db);
      else await sql`update search_blocks set term = ${term} where segment = ${segment} and term = ''`.execute(db);
    }
  },
};

/** Terms one after another: lengths of name, count, slots and codes as varints; the name, the slots, the codes. */
function firstName(data: Buffer): string | null {
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = data[at++]!;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < data.length) {
    const name = number();
    number();
    const rest = number() + number();
    if (name > 0) return data.toString('utf8', at, at + name);
    at += rest;
  }
  return null;
}
