import type { BlobStore, DocumentRow, Storage, Stores } from '../storage/ports.ts';

/**
 * Takes documents out of every table, inside the caller's transaction. Answers the blobs that nothing names any more (files and
 * drawn pages), to be removed once the transaction is durable.
 */
export async function removeDocuments(stores: Stores, documents: readonly DocumentRow[]): Promise<string[]> {
  const refs = documents.map((document) => document.ref);
  const hashes = new Set([...documents.map((document) => document.sha256), ...(await stores.files.hashesOf(refs))]);
  await stores.index.remove(refs);
  await stores.documents.remove(refs);
  return forgetDrawings(stores, [...hashes]);
}

/** Of these file blobs, the ones no row names any more, with all that was drawn from them. */
export async function forgetDrawings(stores: Stores, hashes: readonly string[]): Promise<string[]> {
  const named = await stores.files.referenced(hashes);
  const free = hashes.filter((hash) => !named.has(hash));
  const drawn: string[] = [];
  for (const hash of free) drawn.push(...(await stores.drawnPages.removeOfFile(hash)));
  return [...free, ...drawn];
}

/**
 * Removes these blobs unless a row names them. Inside a transaction, because an upload of the same bytes looks for its blob inside
 * its own (uploads.ts): one of the two comes first. What is missed here is found by the reaper.
 */
export async function removeUnreferenced(deps: { storage: Storage; blobs: BlobStore }, hashes: readonly string[]): Promise<void> {
  if (hashes.length === 0) return;
  await deps.storage.transaction(async (stores) => {
    const named = await stores.files.referenced(hashes);
    for (const hash of new Set(hashes)) {
      if (!named.has(hash)) await deps.blobs.remove(hash);
    }
  });
}
