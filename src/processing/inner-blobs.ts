import type { InnerFile } from '../library/inner-files.ts';
import type { BlobStore, DocumentRow } from '../storage/ports.ts';
import type { ProcessingDeps } from './deps.ts';

/**
 * Takes the files inside a document as the reading hands them on and stores each at once, so that an archive is never held in
 * memory whole. A document that lies too deep in others keeps its files to itself.
 */
export async function collectInnerFiles(deps: Pick<ProcessingDeps, 'blobs' | 'mayUnpack'>, document: DocumentRow) {
  const wanted = await deps.mayUnpack(document);
  const stored: Promise<InnerFile>[] = [];
  let left = 0;
  return {
    take({ name, bytes }: { name: string; bytes: Uint8Array }): void {
      if (!wanted) left += 1;
      else {
        const one = store(deps.blobs, name, bytes);
        // Looked at when all are asked for; until then a full disk is no unhandled rejection.
        one.catch(() => undefined);
        stored.push(one);
      }
    },
    files: (): Promise<InnerFile[]> => Promise.all(stored),
    notices: (): string[] =>
      left === 0 ? [] : [`${left} files inside were left inside, because it came out of another file itself — upload it on its own to have them`],
  };
}

const store = async (blobs: BlobStore, path: string, bytes: Uint8Array): Promise<InnerFile> => ({ path, blob: await blobs.putBytes(bytes) });
