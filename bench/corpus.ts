/**
 * `npm run corpus [-- FILTER]`: every file of the shared corpus through the whole way of a real server, one row a file: what it ended
 * as, its pages beside the independent tool's, what became of them, the share of an independent extractor's words that is found.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { sharedPath } from '../test/support/shared.ts';
import { openBenchLibrary } from './bench-library.ts';
import { independentWords, wordRecall } from '../test/support/independent-words.ts';
import { printTable } from './table.ts';

const filter = process.argv[2] ?? '';
const manifest = readFileSync(sharedPath('corpus/manifest.tsv'), 'utf8').trim().split('\n').slice(1).map((line) => line.split('\t'));
const files = manifest.filter(([name]) => name?.includes(filter));
const library = await openBenchLibrary();
const rows: string[][] = [];
let wrong = 0;
try {
  const paths = files.map(([name]) => sharedPath(`corpus/${name}`));
  const began = performance.now();
  const ids = await library.upload(paths);
  const documents = await library.settled(ids, true);
  const seconds = (performance.now() - began) / 1_000;
  for (const [at, document] of documents.entries()) {
    const [name, , , , , expected] = files[at] as string[];
    const fates: Record<string, number> = {};
    let text = '';
    for (let page = 1; page <= (document.pages ?? 0); page++) {
      const { body } = await library.admin.get(`/documents/${ids[at]}/pages/${page}`);
      fates[body.fate] = (fates[body.fate] ?? 0) + 1;
      text += `${body.text}\n`;
    }
    const wanted = /(?:pages|slides|sheets)=(\d+)/.exec(expected?.replace(/slides=0 sheets=0;/, '') ?? '')?.[1] ?? '';
    const recall = document.status === 'ready' ? wordRecall(await independentWords(paths[at] as string), text) : null;
    if (recall !== null && recall < 0.97) wrong += 1;
    rows.push([
      basename(name as string), document.type, document.status, `${document.pages ?? '-'}${document.pagesEstimated ? '~' : ''}`, wanted,
      Object.entries(fates).map(([fate, count]) => `${fate} ${count}`).join(', '), recall === null ? '' : recall.toFixed(3), document.pdfCopy,
      (document.reason ?? document.notices.join(' ')).slice(0, 90),
    ]);
  }
  printTable(`${files.length} files in ${seconds.toFixed(1)} s`, ['file', 'read as', 'status', 'pages', 'tool', 'fates', 'words', 'copy', 'reason or notice'], rows);
  process.stdout.write(`\n${wrong} readable files have fewer than 97 % of the independent extractor's words\n`);
} finally {
  await library.stop();
}
