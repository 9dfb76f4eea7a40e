/**
 * Every setting, one line each: its name in the environment (and in the config file), how its text is read, its default
 * and what it is for. `sergo config show`, docs/running.md (checked by a test) and the "did you mean" of unknown names
 * come from this table.
 */
import { availableParallelism } from 'node:os';
import { z } from 'zod';

export interface Setting<T> {
  name: `SERGO_${string}`;
  schema: z.ZodType<T, string>;
  /** As text, read by the same schema. `null`: not set unless somebody sets it. */
  default: string | null;
  about: string;
  /** Masked wherever it is shown. */
  secret?: true;
}

const whole = (min: number, max: number): z.ZodType<number, string> =>
  z
    .string()
    .regex(/^\d+$/, 'is not a whole number')
    .transform(Number)
    .refine((n) => n >= min && n <= max, `is not between ${min} and ${max}`);

const yesOrNo: z.ZodType<boolean, string> = z
  .enum(['1', '0', 'true', 'false', 'yes', 'no', ''], 'is neither 1 nor 0')
  .transform((text) => ['1', 'true', 'yes'].includes(text));

const list: z.ZodType<string[], string> = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);

const unitBytes: Record<string, number> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** `1048576`, `64MiB`, `2 GiB`, `2G`: always powers of 1,024. */
const byteCount: z.ZodType<number, string> = z.string().transform((text, context) => {
  const match = /^(\d+)\s*([kmg]?)(?:i?b)?$/i.exec(text.trim());
  const bytes = match === null ? Number.NaN : Number(match[1]) * (unitBytes[(match[2] ?? '').toLowerCase()] ?? 1);
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  context.addIssue({ code: 'custom', message: 'is not a size such as 512MiB or 2GiB' });
  return z.NEVER;
});

const origin: z.ZodType<string[], string> = list.refine(
  (origins) => origins.every((text) => URL.canParse(text) && new URL(text).origin === text),
  'is not a list of origins such as https://chat.example.com (scheme, host and port, no path)',
);

/** The address without a trailing slash. */
const address: z.ZodType<string, string> = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'is not an http:// or https:// address',
  )
  .transform((text) => text.replace(/(?<!\/)\/+$/, ''));

const networks: z.ZodType<string[], string> = list.refine(
  (parts) => parts.every((part) => /^[0-9a-f.:]+(\/\d{1,3})?$/i.test(part)),
  'is not a list of networks such as 10.0.0.0/8 or addresses such as 127.0.0.1',
);

const filled = z.string().min(1, 'is empty');

/** No secret is one that an example had in its place (trust.md P20); how long one is that a service gave out is that service's matter. */
const givenSecret = filled.refine((text) => !/changeme|change[-_ ](?:me|it|this)\b/i.test(text), 'is the placeholder of an example, which everybody knows');

/** A secret that whoever runs Sergo makes up. */
const ownSecret = givenSecret.refine((text) => Buffer.byteLength(text) >= 32, 'is shorter than 32 bytes (`openssl rand -hex 32` makes one)');

/** Keeps the types of the rows while checking their shape. */
const table = <T extends Record<string, Setting<unknown>>>(rows: T): T => rows;

export const settings = table({
  data: {
    name: 'SERGO_DATA',
    schema: filled,
    default: './data',
    about: 'Folder that holds the database and all files.',
  },
  host: { name: 'SERGO_HOST', schema: filled, default: '127.0.0.1', about: 'Address to listen on.' },
  port: {
    name: 'SERGO_PORT',
    schema: whole(0, 65_535),
    default: '8080',
    about: 'Port to listen on; 0 takes a free one.',
  },
  publicUrl: {
    name: 'SERGO_PUBLIC_URL',
    schema: address,
    default: null,
    about:
      'Address that people and agents use, for links, cookies and the Host and Origin checks. Not set: the address listened on.',
  },
  allowInsecure: {
    name: 'SERGO_ALLOW_INSECURE',
    schema: yesOrNo,
    default: '0',
    about:
      '1 allows plain http:// for an address that other machines can reach. Passwords and keys then travel unprotected.',
  },
  allowedOrigins: {
    name: 'SERGO_ALLOWED_ORIGINS',
    schema: origin,
    default: '',
    about: 'Origins of web pages, besides the public address, whose scripts may call Sergo.',
  },
  trustProxy: {
    name: 'SERGO_TRUST_PROXY',
    schema: networks,
    default: '',
    about: 'Networks of reverse proxies whose X-Forwarded-For, -Proto and -Host headers are believed.',
  },
  logLevel: {
    name: 'SERGO_LOG_LEVEL',
    schema: z.enum(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'is not a log level (trace, debug, info, warn, error, fatal, silent)',
    ),
    default: 'info',
    about: 'How much is written to the log on stderr.',
  },
  metricsToken: {
    name: 'SERGO_METRICS_TOKEN',
    schema: ownSecret,
    default: null,
    about: 'Bearer token with which other machines may read /metrics. Not set: only this machine may.',
    secret: true,
  },
  workerConcurrency: {
    name: 'SERGO_WORKER_CONCURRENCY',
    schema: whole(1, 64),
    default: String(Math.min(9, availableParallelism() + 1)),
    about: 'Files that one worker process has in hand at the same time. Default: one more than processors, at most 9: while one is written, the others are read.',
  },
  warmOffice: {
    name: 'SERGO_WARM_OFFICE',
    schema: yesOrNo,
    default: '1',
    about:
      '0 starts LibreOffice and the readers only when a file comes: the first office file then waits two seconds, and 250 MB of memory stay free until then.',
  },
  ocrLanguages: {
    name: 'SERGO_OCR_LANGUAGES',
    schema: z
      .string()
      .regex(/^[a-z_]{3,20}(?:[+,][a-z_]{3,20})*$/i, "is not a list of tesseract's languages such as eng or deu+eng")
      .transform((text) => text.split(/[+,]/)),
    default: 'eng',
    about: "Tesseract's languages for pages that are pictures, the most likely first (eng, deu+eng). Install tesseract-ocr-<language>.",
  },
  searchThreads: {
    name: 'SERGO_SEARCH_THREADS',
    schema: whole(1, 32),
    default: String(Math.max(1, Math.min(4, availableParallelism()))),
    about: 'Threads that answer searches. Default: one per processor, at most 4.',
  },
  searchDepth: {
    name: 'SERGO_SEARCH_DEPTH',
    schema: whole(1, 1000),
    default: '60',
    about: 'Excerpts that one search ranks at most.',
  },
  embeddings: {
    name: 'SERGO_EMBEDDINGS',
    schema: z
      .string()
      .regex(/^local:.+/, 'is not local: and the folder of a model, such as local:/srv/models/multilingual-e5-small'),
    default: null,
    about: 'Searches by meaning as well, with the model in this folder (local:/folder with model.onnx and tokenizer.json).',
  },
  embeddingsUrl: {
    name: 'SERGO_EMBEDDINGS_URL',
    schema: address,
    default: null,
    about:
      'Searches by meaning as well, with an OpenAI-compatible service at this address, such as https://api.openai.com/v1. Private addresses are allowed here, redirects are not followed.',
  },
  embeddingsModel: {
    name: 'SERGO_EMBEDDINGS_MODEL',
    schema: filled,
    default: null,
    about: 'Model of that service. A new name makes all vectors anew in the background while the old ones serve.',
  },
  embeddingsQueryModel: {
    name: 'SERGO_EMBEDDINGS_QUERY_MODEL',
    schema: filled,
    default: null,
    about: 'Model for questions, where a service names two models. Not set: the same.',
  },
  embeddingsKey: {
    name: 'SERGO_EMBEDDINGS_KEY',
    schema: givenSecret,
    default: null,
    about: 'Key for that service; better in a file (SERGO_EMBEDDINGS_KEY_FILE).',
    secret: true,
  },
  embeddingsQueryPrefix: {
    name: 'SERGO_EMBEDDINGS_QUERY_PREFIX',
    schema: z.string(),
    default: null,
    about: 'Words that the model wants before a question. Not set: what models of its name are known to want (E5, BGE).',
  },
  embeddingsPassagePrefix: {
    name: 'SERGO_EMBEDDINGS_PASSAGE_PREFIX',
    schema: z.string(),
    default: null,
    about: 'Words that the model wants before a text. Not set: what models of its name are known to want (E5).',
  },
  rerankUrl: {
    name: 'SERGO_RERANK_URL',
    schema: address,
    default: null,
    about:
      'Puts the best results in a better order with a service that speaks /rerank (Cohere, Jina, vLLM, llama.cpp, TEI). Private addresses are allowed here.',
  },
  rerankModel: { name: 'SERGO_RERANK_MODEL', schema: filled, default: null, about: 'Model of that service.' },
  rerankKey: {
    name: 'SERGO_RERANK_KEY',
    schema: givenSecret,
    default: null,
    about: 'Key for that service; better in a file (SERGO_RERANK_KEY_FILE).',
    secret: true,
  },
  agentRate: {
    name: 'SERGO_RATE_AGENT',
    schema: whole(1, 10_000_000),
    default: '600',
    about: 'Calls a minute of one agent key.',
  },
  signedInRate: {
    name: 'SERGO_RATE_SIGNED_IN',
    schema: whole(1, 10_000_000),
    default: '6000',
    about: 'Calls a minute of one signed-in person or personal key.',
  },
  badCredentialRate: {
    name: 'SERGO_RATE_BAD_CREDENTIALS',
    schema: whole(1, 10_000_000),
    default: '10',
    about: 'Wrong passwords or keys a minute from one address before it has to wait.',
  },
  queueLimit: {
    name: 'SERGO_QUEUE_LIMIT',
    schema: whole(1, 10_000_000),
    default: '20000',
    about: 'Documents that may wait for processing; further uploads are answered 503 until some are done.',
  },
  maxFile: { name: 'SERGO_MAX_FILE', schema: byteCount, default: '2GiB', about: 'Largest file that can be uploaded.' },
  maxPages: {
    name: 'SERGO_MAX_PAGES',
    schema: whole(1, 1_000_000),
    default: '5000',
    about: 'Most pages a document may have to be read.',
  },
  maxMegapixels: {
    name: 'SERGO_MAX_MEGAPIXELS',
    schema: whole(1, 10_000),
    default: '100',
    about: 'Largest picture that is read, in millions of pixels.',
  },
  maxUnpacked: {
    name: 'SERGO_MAX_UNPACKED',
    schema: byteCount,
    default: '1GiB',
    about: 'Most bytes that one file may unpack to while it is read.',
  },
  readCpuSeconds: {
    name: 'SERGO_READ_CPU_SECONDS',
    schema: whole(1, 86_400),
    default: '60',
    about: 'Processor time for reading one file.',
  },
  readWallSeconds: {
    name: 'SERGO_READ_WALL_SECONDS',
    schema: whole(1, 86_400),
    default: '120',
    about: 'Time for one file over all steps and attempts, waiting for the disk and for others apart.',
  },
  childMemory: {
    name: 'SERGO_CHILD_MEMORY',
    schema: byteCount,
    default: '1GiB',
    about: 'Memory of one sandboxed reader.',
  },
  officeMemory: {
    name: 'SERGO_OFFICE_MEMORY',
    schema: byteCount,
    default: '3GiB',
    about: 'Memory of the sandboxed LibreOffice.',
  },
});

export type SettingKey = keyof typeof settings;
export type SettingValue<K extends SettingKey> = z.output<(typeof settings)[K]['schema']>;
