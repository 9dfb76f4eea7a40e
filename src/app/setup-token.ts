import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureSetupToken } from '../access/setup.ts';
import type { LibraryDeps } from '../library/deps.ts';

const fileIn = (dataFolder: string): string => join(dataFolder, 'setup-token');

/** A new one-time token while there is no admin, in a file for its owner alone as well; null once there is one (P20). */
export async function offerSetupToken(
  library: LibraryDeps,
  dataFolder: string,
): Promise<{ token: string; file: string } | null> {
  const token = await ensureSetupToken(library);
  await forgetSetupToken(dataFolder);
  if (token === null) return null;
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  const file = fileIn(dataFolder);
  await writeFile(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
  return { token, file };
}

/** Once there is an admin, no file of the token stays behind. */
export const forgetSetupToken = (dataFolder: string): Promise<void> => rm(fileIn(dataFolder), { force: true });
