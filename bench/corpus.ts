/**
 * `npm run corpus [-- FILTER]`: every file of the shared corpus through the whole way of a real server, one row a file: what it ended
 * as, its pages beside the independent tool's, what became of them, the share of an independent extractor's words that is found on the
 * right page, and of its own words that the other has too. Ends with 1 when a figure is wrong beyond what is explained.
 */
import { openBenchLibrary } from './bench-library.ts';
import { printTable } from './table.ts';
import { corpusFiles, ENOUGH, measureCorpus, type ReadFile } from '../test/support/corpus-yardstick.ts';

const filter = process.argv[2] ?? '';
const files = (await corpusFiles()).filter(({ name }) => name.includes(filter));
const library = await openBenchLibrary();
try {
  const began = performance.now();
  const ids = await library.upload(files.map(({ path }) => path));
  const documents = await library.settled(ids, true);
  const seconds = (performance.now() - began) / 1_000;
  const read: ReadFile[] = [];
  for (const [at, document] of documents.entries()) {
    const pages = [];
    for (let page = 1; page <= (document.pages ?? 0); page++) pages.push((await library.admin.get(`/documents/${ids[at]}/pages/${page}`)).body);
    const copy = document.pdfCopy === 'ready' ? Buffer.from(await (await library.admin.raw(`/documents/${ids[at]}/file?kind=pdf-copy`)).arrayBuffer()) : null;
    read.push({ ...files[at]!, document, pages, copy });
  }
  const figures = await measureCorpus(read);
  const share = (value: number | null): string => value?.toFixed(3) ?? '';
  const rows = read.map(({ name, document, pages }) => {
    const { wanted, recall, precision } = figures.get(name)!;
    const fates = Object.entries(Object.groupBy(pages, (page) => page.fate as string)).map(([fate, all]) => `${fate} ${all?.length}`);
    return [
      name, document.type, document.status, `${document.pages ?? '-'}${document.pagesEstimated ? '~' : ''}`, String(wanted ?? ''), fates.join(', '),
      share(recall), share(precision), document.pdfCopy, (document.reason ?? document.notices.join(' ')).slice(0, 90),
    ];
  });
  printTable(`${files.length} files in ${seconds.toFixed(1)} s`, ['file', 'read as', 'status', 'pages', 'tool', 'fates', 'words', 'own words', 'copy', 'reason or notice'], rows);
  const wrong = [...figures].flatMap(([name, each]) => each.wrong.map((what) => `${name}: ${what}`));
  process.stdout.write(wrong.length === 0 ? `\nAll page counts are right, and at least ${ENOUGH * 100} % of the words either way\n` : `\nWrong:\n${wrong.join('\n')}\n`);
  if (wrong.length > 0) process.exitCode = 1;
} finally {
  await library.stop();
}
