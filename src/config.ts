/**
 * Reads the settings of config-table.ts from the environment, from `*_FILE` variables and from the JSON file that
 * SERGO_CONFIG names, in this order of precedence. Nothing else in the program reads process.env.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { EmbeddingSource } from './ai/embeddings.ts';
import { settings, type Setting, type SettingKey, type SettingValue } from './config-table.ts';
import { AppError } from './errors.ts';

export interface Config {
  /** Absolute path. */
  dataFolder: string;
  host: string;
  /** 0: a free port, known once `serve` listens. */
  port: number;
  /** No trailing slash. Null: the address listened on. */
  publicUrl: string | null;
  allowInsecure: boolean;
  allowedOrigins: string[];
  /** CIDR networks or addresses. */
  trustProxy: string[];
  logLevel: string;
  /** Null: /metrics answers this machine alone. */
  metricsToken: string | null;
  workerConcurrency: number;
  /** Keep a LibreOffice running for the next office file. */
  warmOffice: boolean;
  /** Tesseract's names, the most likely first. */
  ocrLanguages: string[];
  rates: { agentPerMinute: number; signedInPerMinute: number; badCredentialsPerMinute: number };
  search: { depth: number; threads: number };
  /** Null: searches go by words only. */
  embeddings: { source: EmbeddingSource; key: string | null } | null;
  rerank: { url: string; model: string; key: string | null } | null;
  limits: {
    queuedDocuments: number;
    fileBytes: number;
    pages: number;
    /** Pixels, not millions of them. */
    picturePixels: number;
    unpackedBytes: number;
    readCpuSeconds: number;
    readWallSeconds: number;
    childMemoryBytes: number;
    officeMemoryBytes: number;
  };
}

export type SettingSource = 'environment' | 'file' | 'config file' | 'default';

/** One row of `sergo config show`. */
export interface ShownSetting {
  name: string;
  value: string;
  source: SettingSource;
  about: string;
}

export interface LoadedConfig {
  config: Config;
  shown: ShownSetting[];
}

type Environment = Readonly<Record<string, string | undefined>>;

const allKeys = Object.keys(settings) as SettingKey[];
const knownNames: ReadonlySet<string> = new Set(allKeys.map((key) => settings[key].name));
/** Names that are no settings: where the config file is, and where tests find the shared test files. */
const otherNames = new Set(['SERGO_CONFIG', 'SERGO_SHARED']);

/** Throws AppError `invalid` with one sentence per problem, all of them at once. */
export function loadConfig(environment: Environment = process.env): LoadedConfig {
  const problems: string[] = [];
  const file = readConfigFile(environment.SERGO_CONFIG, problems);
  const texts = { environment: readEnvironment(environment, problems), file };
  const shown: ShownSetting[] = [];
  const values = {} as { -readonly [K in SettingKey]: SettingValue<K> | null };

  for (const key of allKeys) {
    const setting: Setting<unknown> = settings[key];
    const found = texts.environment.get(setting.name) ?? texts.file.get(setting.name);
    const text = found?.text ?? setting.default;
    const source: SettingSource = found?.source ?? 'default';
    shown.push({ name: setting.name, value: showValue(setting, text), source, about: setting.about });
    const parsed = text === null ? { success: true as const, data: null } : setting.schema.safeParse(text);
    if (parsed.success) Object.assign(values, { [key]: parsed.data });
    else problems.push(`${setting.name}=${showValue(setting, text)} ${parsed.error.issues[0]?.message}.`);
  }
  if (problems.length === 0) problems.push(...checkAddress(values), ...checkModels(values));
  if (problems.length > 0) throw new AppError('invalid', problems.join('\n'));
  return { config: toConfig(values as { [K in SettingKey]: SettingValue<K> }), shown };
}

function toConfig(values: { [K in SettingKey]: SettingValue<K> }): Config {
  return {
    dataFolder: resolve(values.data),
    host: values.host,
    port: values.port,
    publicUrl: values.publicUrl,
    allowInsecure: values.allowInsecure,
    allowedOrigins: values.allowedOrigins,
    trustProxy: values.trustProxy,
    logLevel: values.logLevel,
    metricsToken: values.metricsToken,
    workerConcurrency: values.workerConcurrency,
    warmOffice: values.warmOffice,
    ocrLanguages: values.ocrLanguages,
    rates: {
      agentPerMinute: values.agentRate,
      signedInPerMinute: values.signedInRate,
      badCredentialsPerMinute: values.badCredentialRate,
    },
    search: { depth: values.searchDepth, threads: values.searchThreads },
    embeddings: toEmbeddings(values),
    rerank: values.rerankUrl === null ? null : { url: values.rerankUrl, model: values.rerankModel, key: values.rerankKey },
    limits: {
      queuedDocuments: values.queueLimit,
      fileBytes: values.maxFile,
      pages: values.maxPages,
      picturePixels: values.maxMegapixels * 1_000_000,
      unpackedBytes: values.maxUnpacked,
      readCpuSeconds: values.readCpuSeconds,
      readWallSeconds: values.readWallSeconds,
      childMemoryBytes: values.childMemory,
      officeMemoryBytes: values.officeMemory,
    },
  };
}

function toEmbeddings(values: { [K in SettingKey]: SettingValue<K> | null }): Config['embeddings'] {
  const prefixes = { queryPrefix: values.embeddingsQueryPrefix, passagePrefix: values.embeddingsPassagePrefix };
  if (values.embeddings !== null) {
    return { source: { kind: 'local', folder: resolve(values.embeddings.slice('local:'.length)), ...prefixes }, key: null };
  }
  if (values.embeddingsUrl === null || values.embeddingsModel === null) return null;
  return {
    source: { kind: 'endpoint', url: values.embeddingsUrl, model: values.embeddingsModel, queryModel: values.embeddingsQueryModel, ...prefixes },
    key: values.embeddingsKey,
  };
}

/** Halves of a setting would leave searches without meaning and nobody would know. */
function checkModels(values: { [K in SettingKey]: SettingValue<K> | null }): string[] {
  const problems: string[] = [];
  if (values.embeddings !== null && values.embeddingsUrl !== null) {
    problems.push('SERGO_EMBEDDINGS and SERGO_EMBEDDINGS_URL are both set; keep one of them.');
  }
  if (values.embeddingsUrl !== null && values.embeddingsModel === null) {
    problems.push('SERGO_EMBEDDINGS_URL is set without SERGO_EMBEDDINGS_MODEL; name the model to use there.');
  }
  if (values.embeddingsModel !== null && values.embeddingsUrl === null) {
    problems.push('SERGO_EMBEDDINGS_MODEL is set without SERGO_EMBEDDINGS_URL; say where that model is.');
  }
  if ((values.rerankUrl === null) !== (values.rerankModel === null)) {
    problems.push('SERGO_RERANK_URL and SERGO_RERANK_MODEL belong together; set both or neither.');
  }
  return problems;
}

interface Found {
  text: string;
  source: SettingSource;
}

function readEnvironment(environment: Environment, problems: string[]): Map<string, Found> {
  const found = new Map<string, Found>();
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith('SERGO_') || otherNames.has(name) || text === undefined) continue;
    const target = name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : name;
    if (knownNames.has(name)) found.set(name, { text, source: 'environment' });
    else if (!knownNames.has(target)) problems.push(unknownName(name));
    else if (environment[target] !== undefined) problems.push(`${target} and ${name} are both set; keep one of them.`);
    else {
      try {
        found.set(target, { text: readFileSync(text, 'utf8').trim(), source: 'file' });
      } catch {
        problems.push(`${name} names a file that cannot be read: ${text}.`);
      }
    }
  }
  return found;
}

const fileSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

function readConfigFile(path: string | undefined, problems: string[]): Map<string, Found> {
  const found = new Map<string, Found>();
  if (path === undefined || path === '') return found;
  try {
    const entries = fileSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
    for (const [name, value] of Object.entries(entries)) {
      if (!knownNames.has(name)) problems.push(`${path}: ${unknownName(name)}`);
      const text = typeof value === 'boolean' ? (value ? '1' : '0') : String(value);
      found.set(name, { text, source: 'config file' });
    }
  } catch {
    problems.push(
      `SERGO_CONFIG names ${path}, which is not a readable JSON file of settings such as {"SERGO_PORT": 8080}.`,
    );
  }
  return found;
}

function unknownName(name: string): string {
  const nearest = [...knownNames].sort((a, b) => editDistance(name, a) - editDistance(name, b))[0];
  return `There is no setting ${name}; the nearest is ${nearest}. \`sergo config show\` lists them all.`;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

function showValue(setting: Setting<unknown>, text: string | null): string {
  if (text === null) return '';
  return setting.secret ? '********' : text;
}

/** Plain http only where nobody else can listen in, unless the operator says so (trust.md section 6). */
function checkAddress(values: {
  publicUrl: string | null;
  host: string | null;
  allowInsecure: boolean | null;
}): string[] {
  if (values.allowInsecure) return [];
  if (values.publicUrl !== null) {
    const { protocol, hostname } = new URL(values.publicUrl);
    if (protocol === 'https:' || isLoopback(hostname)) return [];
    return [
      `SERGO_PUBLIC_URL=${values.publicUrl} would send passwords and keys unprotected; use an https:// address (a reverse proxy gives one), or set SERGO_ALLOW_INSECURE=1 if that network is yours alone.`,
    ];
  }
  if (values.host === null || isLoopback(values.host)) return [];
  return [
    `SERGO_HOST=${values.host} can be reached from other machines over plain http; set SERGO_PUBLIC_URL to the https:// address of a reverse proxy in front, or set SERGO_ALLOW_INSECURE=1 if that network is yours alone.`,
  ];
}

/** Takes a host as in a URL (`[::1]`) or plain. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (bare === 'localhost' || bare.endsWith('.localhost') || bare === '::1') return true;
  return isIP(bare) === 4 && bare.startsWith('127.');
}
