import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomBytes } from 'node:crypto';

const keyBytes = 32;

/**
 * The HMAC key of the audit chain, `<data>/secrets/audit.key` (hex, mode 0600), made on the first start. It lies beside the
 * database, not in it: a copy of the database alone cannot be forged. When rows exist and the key is gone, starting anew would hide
 * that, so this throws instead (pass `mayCreate: false` once there are rows).
 */
export async function loadAuditKey(dataFolder: string, options: { mayCreate: boolean }): Promise<Uint8Array> {
  const path = join(dataFolder, 'secrets', 'audit.key');
  const found = await readKey(path);
  if (found !== null) return found;
  if (!options.mayCreate) {
    throw new Error('The audit log has entries but secrets/audit.key is missing from the data folder: restore it from a backup');
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await createKey(path);
  const made = await readKey(path);
  if (made === null) throw new Error('secrets/audit.key could not be made in the data folder');
  return made;
}

/** A hard link from a finished temporary file: two processes starting at once end with one whole key. */
async function createKey(path: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(`${randomBytes(keyBytes).toString('hex')}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await unlink(temporary);
  }
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function readKey(path: string): Promise<Uint8Array | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (!/^[0-9a-f]{64}\s*$/.test(text)) throw new Error('secrets/audit.key in the data folder is damaged: restore it from a backup');
  return Buffer.from(text.trim(), 'hex');
}
