import { hash } from 'node:crypto';
import type { AuditRow } from '../storage/ports.ts';

/** What the first row is chained to. */
export const GENESIS = '0'.repeat(64);

/**
 * One fixed form of a row for the HMAC: a JSON array in this order, so that no two different rows share a form. Adding a column
 * later means a new, longer form from a known seq on, never a change of this one.
 */
export function canonicalForm(row: Omit<AuditRow, 'hash'>): string {
  return JSON.stringify([
    row.seq,
    row.at,
    row.actorKind,
    row.actorId,
    row.actor,
    row.masked,
    row.endUser,
    row.action,
    row.objectKind,
    row.objectId,
    row.detail,
    row.outcome,
    row.requestId,
  ]);
}

/** The key as HMAC uses it, and room for what is hashed. */
export interface ChainKey {
  /** One block of the inner hash, then the message of the row at hand. */
  inner: Buffer;
  /** One block of the outer hash, then the inner hash of the row at hand. */
  readonly outer: Buffer;
}

/** SHA-256's block: a key is filled up to it (RFC 2104). */
const BLOCK = 64;
const DIGEST = 32;

/** `key` of at most 64 bytes. */
export function chainKeyOf(key: Uint8Array): ChainKey {
  if (key.length > BLOCK) throw new RangeError(`An audit key has at most ${BLOCK} bytes`);
  const block = Buffer.alloc(BLOCK);
  block.set(key);
  const inner = Buffer.alloc(BLOCK + 4_096);
  const outer = Buffer.alloc(BLOCK + DIGEST);
  inner.set(block.map((byte) => byte ^ 0x36));
  outer.set(block.map((byte) => byte ^ 0x5c));
  return { inner, outer };
}

/**
 * HMAC-SHA256(key, previous hash ‖ canonical row), hex (trust.md 1.5), as two one-shot hashes: `createHmac` makes and frees an object of
 * OpenSSL's for each row, which costs more than the hashing (14 µs a row against 5 in a server under load).
 */
export function chainHash(key: ChainKey, previousHash: string, row: Omit<AuditRow, 'hash'>): string {
  const message = previousHash + canonicalForm(row);
  const end = BLOCK + Buffer.byteLength(message);
  if (end > key.inner.length) key.inner = Buffer.concat([key.inner.subarray(0, BLOCK)], end);
  key.inner.write(message, BLOCK, 'utf8');
  key.outer.write(hash('sha256', key.inner.subarray(0, end), 'hex'), BLOCK, 'hex');
  return hash('sha256', key.outer, 'hex');
}
