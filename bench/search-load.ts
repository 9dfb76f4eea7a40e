/** Fills the databases that `bench:search` asks, Sergo's and the yardstick's, with the same texts; what is kept is not filled again. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSearchMaintenance } from '../src/storage/sqlite/search-merge.ts';
import { createFtsYardstick } from './search-fts.ts';
import { createSearchLibrary } from './search-library.ts';
import { textMaker } from './search-text.ts';

export const CHUNKS_A_DOCUMENT = 12;
export const WORDS_A_CHUNK = 95;
export const FOLDERS = 1_000;

export interface Load {
  sergoPath: string;
  ftsPath: string;
  ingestPerSecond: number;
  ftsIngestPerSecond: number;
  /** Of the index alone; the yardstick's is of a database with its texts. */
  indexBytes: number;
  ftsBytes: number;
  /** Peak resident memory of filling Sergo's, this process with everything in it. */
  ingestMiB: number;
}

/** Texts are made anew for each side, from the same seed, so that neither holds the other's in memory. */
function* documents(total: number): Generator<{ ref: number; id: string; folder: number; title: string; texts: string[] }> {
  const maker = textMaker(7);
  const count = Math.ceil(total / CHUNKS_A_DOCUMENT);
  for (let i = 0; i < count; i++) {
    const texts = Array.from({ length: Math.min(CHUNKS_A_DOCUMENT, total - i * CHUNKS_A_DOCUMENT) }, () => maker.text(WORDS_A_CHUNK));
    yield { ref: i + 1, id: `d${String(i).padStart(7, '0')}`, folder: 1 + (i % FOLDERS), title: maker.words(4), texts };
  }
}

/** Fills both databases with `total` excerpts, or answers what was measured when they were filled. */
export function loadDatabases(folder: string, total: number): Load {
  mkdirSync(folder, { recursive: true });
  const measured = join(folder, `load-${total}.json`);
  if (existsSync(measured)) return JSON.parse(readFileSync(measured, 'utf8')) as Load;
  const [sergoPath, ftsPath] = [join(folder, 'sergo.db'), join(folder, 'fts.db')];
  const sergo = loadSergo(sergoPath, total);
  const load = { sergoPath, ftsPath, ...sergo, ...loadFts(ftsPath, total) };
  writeFileSync(measured, JSON.stringify(load));
  return load;
}

function loadSergo(path: string, total: number): Pick<Load, 'ingestPerSecond' | 'indexBytes' | 'ingestMiB'> {
  const library = createSearchLibrary(path);
  const maintenance = openSearchMaintenance(path);
  let batch: Parameters<typeof library.add>[0][number][] = [];
  let [ingestMs, peak] = [0, 0];
  const flush = (): void => {
    const began = performance.now();
    library.add(batch);
    while (maintenance.step(200));
    ingestMs += performance.now() - began;
    peak = Math.max(peak, process.memoryUsage().rss);
    batch = [];
  };
  for (const document of documents(total)) {
    batch.push({ ...document, chunks: document.texts.map((text, position) => ({ position, page: position + 1, section: null, text })) });
    if (batch.length === 64) flush();
  }
  flush();
  maintenance.close();
  library.db.pragma('wal_checkpoint(TRUNCATE)');
  const sizes = library.db.prepare(`select sum(pgsize) as bytes from dbstat where name like 'search\\_%' escape '\\'`);
  const { bytes } = sizes.get() as { bytes: number };
  library.close();
  return { ingestPerSecond: Math.round(total / (ingestMs / 1_000)), indexBytes: bytes, ingestMiB: Math.round(peak / 2 ** 20) };
}

function loadFts(path: string, total: number): Pick<Load, 'ftsIngestPerSecond' | 'ftsBytes'> {
  const yardstick = createFtsYardstick(path);
  let ingestMs = 0;
  for (const document of documents(total)) {
    const began = performance.now();
    yardstick.add(document);
    ingestMs += performance.now() - began;
  }
  const began = performance.now();
  yardstick.close();
  ingestMs += performance.now() - began;
  return { ftsIngestPerSecond: Math.round(total / (ingestMs / 1_000)), ftsBytes: statSync(path).size };
}
