import { sql, type RawBuilder } from 'kysely';

/** A set of integers as one bound value, so that a scope of thousands stays one prepared statement. */
export const anyOf = (values: readonly number[]): RawBuilder<number> =>
  sql<number>`(select value from json_each(${JSON.stringify(values)}))`;
