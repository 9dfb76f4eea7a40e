import type { Migration } from 'kysely/migration';
import { start } from './0001-start.ts';

/** Every migration by name; names sort in the order of application and never change once released. */
export const migrations: Record<string, Migration> = {
  '0001-start': start,
};
