/** Who may ask: users, their sign-ins, keys, and what is shared with whom. Conventions: ../ports.ts. */

export interface UserRow {
  ref: number;
  id: string;
  name: string;
  /** Lower-cased. */
  email: string;
  passwordHash: string;
  role: 'admin' | 'member';
  rootFolder: number;
  disabledAt: number | null;
  createdAt: number;
}

export interface UserStore {
  /** The root folder is set in the same transaction through `setRootFolder`. */
  insert(row: Omit<UserRow, 'ref' | 'rootFolder' | 'disabledAt'>): Promise<number>;
  setRootFolder(ref: number, folder: number): Promise<void>;
  byRef(ref: number): Promise<UserRow | null>;
  byId(id: string): Promise<UserRow | null>;
  byEmail(email: string): Promise<UserRow | null>;
  list(): Promise<UserRow[]>;
  countAdmins(): Promise<number>;
  update(ref: number, change: Partial<Pick<UserRow, 'name' | 'email' | 'passwordHash' | 'role' | 'disabledAt'>>): Promise<void>;
}

export interface SessionRow {
  /** SHA-256 of the login token, hex. */
  tokenHash: string;
  user: number;
  createdAt: number;
  expiresAt: number;
}

export interface SessionStore {
  insert(row: SessionRow): Promise<void>;
  byHash(tokenHash: string): Promise<SessionRow | null>;
  /** Hashes of the tokens made at or after that time. */
  hashesSince(time: number): Promise<string[]>;
  extend(tokenHash: string, expiresAt: number): Promise<void>;
  remove(tokenHash: string): Promise<void>;
  removeOfUser(user: number): Promise<void>;
  removeExpired(now: number): Promise<void>;
}

export type KeyKind = 'agent' | 'personal' | 'external';

export interface KeyRow {
  ref: number;
  id: string;
  kind: KeyKind;
  owner: number;
  name: string;
  description: string;
  createdAt: number;
  revokedAt: number | null;
  lastUsedAt: number | null;
  /** The mask of its newest value. */
  masked: string;
}

export interface KeyValueRow {
  /** SHA-256 of the whole key, hex. */
  hash: string;
  key: number;
  masked: string;
  createdAt: number;
  /** Null: valid until rolled or revoked. */
  validUntil: number | null;
}

export interface KeyStore {
  /** `masked` goes to the key and to its first value. */
  insert(row: Omit<KeyRow, 'ref' | 'revokedAt' | 'lastUsedAt'>, hash: string): Promise<number>;
  /** The key that has this value, with that value's own row; revoked and run-out ones too: the caller decides. */
  byValueHash(hash: string): Promise<{ key: KeyRow; value: KeyValueRow } | null>;
  /** Hashes of all values made at or after that time, good or not. */
  hashesSince(time: number): Promise<string[]>;
  byId(id: string): Promise<KeyRow | null>;
  /** Newest first. */
  ofOwner(owner: number): Promise<KeyRow[]>;
  list(): Promise<KeyRow[]>;
  liveNameTaken(owner: number, kind: KeyKind, name: string, except: number | null): Promise<boolean>;
  update(ref: number, change: Partial<Pick<KeyRow, 'name' | 'description' | 'revokedAt'>>): Promise<void>;
  /** Adds a value and ends the older ones at `oldValidUntil` unless they end sooner. */
  roll(ref: number, value: { hash: string; masked: string; createdAt: number }, oldValidUntil: number): Promise<void>;
  touch(ref: number, usedAt: number): Promise<void>;
  /** The roots the key names (folders not expanded). */
  scope(ref: number): Promise<{ folders: number[]; documents: number[] }>;
  setScope(ref: number, folders: readonly number[], documents: readonly number[]): Promise<void>;
}

export interface GrantRow {
  ref: number;
  id: string;
  /** Exactly one of folder and document is set. */
  folder: number | null;
  document: number | null;
  user: number;
  right: 'read' | 'edit';
  grantedBy: number;
  createdAt: number;
}

export interface GrantStore {
  insert(row: Omit<GrantRow, 'ref'>): Promise<number>;
  byId(id: string): Promise<GrantRow | null>;
  ofUser(user: number): Promise<GrantRow[]>;
  onFolder(folder: number): Promise<GrantRow[]>;
  onDocument(document: number): Promise<GrantRow[]>;
  remove(ref: number): Promise<void>;
}
