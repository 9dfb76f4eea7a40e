import { availableParallelism } from 'node:os';
import type { Config } from '../config.ts';
import { createDocumentReader, type DocumentReader, type DocumentReaderDeps } from '../formats/document-reader.ts';
import { createCopyMaker } from '../formats/copy-maker.ts';
import { createImageReader } from '../formats/image.ts';
import { createOfficeConverter } from '../formats/office-converter.ts';
import { createOcr } from '../formats/ocr.ts';
import { createPdfReader } from '../formats/pdf.ts';
import type { CopyMaker, Ocr, PageDrawer } from '../processing/ports.ts';
import { createSandbox, type Sandbox } from '../sandbox/index.ts';

const PICTURES = ['png', 'jpg', 'tiff', 'webp'];
type OtherReader = NonNullable<DocumentReaderDeps['others']>[string];

export interface Readers {
  sandbox: Sandbox;
  reader: DocumentReader;
  copies: CopyMaker;
  ocr: Ocr;
  close(): Promise<void>;
}

/** Everything that reads files, in sandboxed children: what a worker needs. */
export async function openReaders(config: Config, log: (message: string) => void): Promise<Readers> {
  const sandbox = await createSandbox({ log });
  // One more than the worker's slots: the express lane must not wait for a child. Starting the next owner's waits for an end of the work.
  const children = { size: config.workerConcurrency + 1, spare: { quietMs: 2_000, ...(config.warmOffice && { firstMs: 500 }) } };
  const pdf = createPdfReader({ sandbox, ...children, limits: limitsOf(config) });
  const office = createOfficeConverter({ sandbox, keepSpare: config.warmOffice, limits: { ...limitsOf(config), memoryBytes: config.limits.officeMemoryBytes } });
  const pictures = createImageReader({ sandbox, size: 2, limits: limitsOf(config), maxPixels: config.limits.picturePixels });
  const reader = createDocumentReader({
    sandbox,
    ...children,
    office,
    limits: limitsOf(config),
    others: {
      pdf: (file, settings) => pdf.read(file.path, { ...settings, owner: file.owner }),
      ...Object.fromEntries(
        PICTURES.map((type) => [type, (file, { maxPages, signal, time }) => pictures.read(file.path, { type, owner: file.owner, maxPages, signal, ...(time && { time }) })] satisfies [string, OtherReader]),
      ),
    },
  });
  const copies = createCopyMaker({ office, reader, limits: { maxPages: config.limits.pages, maxUnpackedBytes: config.limits.unpackedBytes } });
  const ocr = createOcr({ sandbox, pdf, languages: config.ocrLanguages, concurrency: Math.min(config.workerConcurrency, availableParallelism()) });
  return {
    sandbox,
    reader,
    ocr: {
      missing: () => ocr.missing(),
      read: (file, pages, { signal, onPage }) => ocr.pages(file.path, pages, { owner: file.owner, key: file.path, signal, onPage }),
      searchablePdf: (file, pages, signal, keep) => ocr.searchablePdf(file.path, pages, keep, { signal }),
    },
    copies: {
      missing: (type) => (PICTURES.includes(type) ? null : office.missing),
      warm: (type, owner) => {
        if (!PICTURES.includes(type)) office.warm(owner);
      },
      toPdf: (file, type, options) =>
        PICTURES.includes(type) ? pictures.toPdf(file.path, { type, owner: file.owner, ...options }) : copies.toPdf(file, type, options),
    },
    async close() {
      await Promise.all([reader.close(), ocr.close(), pdf.close(), pictures.close(), office.close()]);
    },
  };
}

/** Draws and cuts pages, in children of its own: what the server needs. */
export async function openDrawer(config: Config, log: (message: string) => void): Promise<{ drawer: PageDrawer; sandbox: Sandbox; close(): Promise<void> }> {
  const sandbox = await createSandbox({ log });
  const pdf = createPdfReader({ sandbox, size: 1, limits: limitsOf(config) });
  return {
    sandbox,
    drawer: {
      draw: (file, page, signal) => pdf.draw(file.path, page, { owner: file.owner, key: file.path, ...(signal ? { signal } : {}) }),
      cut: (file, page, signal) => pdf.cut(file.path, page, { owner: file.owner, key: file.path, ...(signal ? { signal } : {}) }),
    },
    close: () => pdf.close(),
  };
}

const limitsOf = (config: Config): { memoryBytes: number; wallMs: number; cpuMs: number } => ({
  memoryBytes: config.limits.childMemoryBytes,
  wallMs: config.limits.readWallSeconds * 1_000,
  cpuMs: config.limits.readCpuSeconds * 1_000,
});
