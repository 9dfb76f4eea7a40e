import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { settings } from './config-table.ts';
import { isLoopback, loadConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'sergo-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

describe('defaults', () => {
  test('are those of the design', () => {
    const { config } = loadConfig({});
    expect(config).toMatchObject({ host: '127.0.0.1', port: 8080, dataFolder: resolve('data'), publicUrl: null });
    expect(config.rates.signedInPerMinute).toBe(6000);
    expect(config.search.depth).toBe(60);
    expect(config.limits).toMatchObject({
      fileBytes: 2 * 2 ** 30,
      pages: 5000,
      picturePixels: 100_000_000,
      unpackedBytes: 2 ** 30,
      readCpuSeconds: 60,
      readWallSeconds: 120,
      childMemoryBytes: 2 ** 30,
      officeMemoryBytes: 3 * 2 ** 30,
    });
  });

  test('are all named in docs/running.md, with their names and no others', () => {
    const page = readFileSync(join(import.meta.dirname, '../docs/running.md'), 'utf8');
    const named = new Set(page.match(/SERGO_[A-Z_]*[A-Z]/g));
    for (const extra of ['SERGO_CONFIG']) named.delete(extra);
    const expected = Object.values(settings).map((setting) => setting.name as string);
    expect([...named].filter((name) => !name.endsWith('_FILE') || expected.includes(name)).sort()).toEqual(
      expected.sort(),
    );
  });
});

describe('where a value comes from', () => {
  test('environment before config file before default', () => {
    const file = write(
      'sergo.json',
      JSON.stringify({ SERGO_PORT: 9000, SERGO_HOST: '::1', SERGO_ALLOW_INSECURE: true }),
    );
    const { config, shown } = loadConfig({ SERGO_CONFIG: file, SERGO_PORT: '9001' });
    expect(config).toMatchObject({ port: 9001, host: '::1', allowInsecure: true });
    const source = Object.fromEntries(shown.map((row) => [row.name, row.source]));
    expect(source).toMatchObject({ SERGO_PORT: 'environment', SERGO_HOST: 'config file', SERGO_DATA: 'default' });
  });

  test('a _FILE variable is read and trimmed, and both at once is an error', () => {
    const file = write('port', '9002\n');
    expect(loadConfig({ SERGO_PORT_FILE: file }).config.port).toBe(9002);
    expect(() => loadConfig({ SERGO_PORT_FILE: file, SERGO_PORT: '1' })).toThrow(
      /SERGO_PORT and SERGO_PORT_FILE are both set/,
    );
    expect(() => loadConfig({ SERGO_PORT_FILE: join(folder, 'none') })).toThrow(/cannot be read/);
  });

  test('lists and sizes are read', () => {
    const { config } = loadConfig({
      SERGO_ALLOWED_ORIGINS: 'https://a.example, http://b.example:81',
      SERGO_MAX_FILE: '64 MiB',
    });
    expect(config.allowedOrigins).toEqual(['https://a.example', 'http://b.example:81']);
    expect(config.limits.fileBytes).toBe(64 * 2 ** 20);
  });
});

test('a secret is masked wherever settings are shown, also in what is wrong with it', () => {
  const { shown } = loadConfig({ SERGO_METRICS_TOKEN: 'a token that is long enough for it' });
  expect(shown.find((row) => row.name === 'SERGO_METRICS_TOKEN')?.value).toBe('********');
  expect(() => loadConfig({ SERGO_METRICS_TOKEN: 'short' })).toThrow('SERGO_METRICS_TOKEN=******** is shorter than 32 bytes');
});

test('a secret that is short or known to everybody is refused at the start (P20)', () => {
  expect(() => loadConfig({ SERGO_METRICS_TOKEN: 'x'.repeat(31) })).toThrow('is shorter than 32 bytes');
  expect(loadConfig({ SERGO_METRICS_TOKEN: 'x'.repeat(32) }).config.metricsToken).toBe('x'.repeat(32));
  const placeholders = { SERGO_METRICS_TOKEN: 'changeme'.repeat(4), SERGO_EMBEDDINGS_KEY: 'changeme', SERGO_RERANK_KEY: 'Change-Me' };
  for (const [name, text] of Object.entries(placeholders)) expect(() => loadConfig({ [name]: text }), name).toThrow(`${name}=******** is the placeholder of an example`);
  // What a service gave out may be short.
  expect(() => loadConfig({ SERGO_EMBEDDINGS_KEY: 'sk-1', SERGO_RERANK_KEY: 'exchange-media' })).not.toThrow();
});

describe('mistakes', () => {
  test('an unknown name is an error that names the nearest right one', () => {
    expect(() => loadConfig({ SERGO_PROT: '1' })).toThrow(/no setting SERGO_PROT; the nearest is SERGO_PORT/);
    const file = write('typo.json', '{"SERGO_SEARCH_DEEPTH": 5}');
    expect(() => loadConfig({ SERGO_CONFIG: file })).toThrow(/the nearest is SERGO_SEARCH_DEPTH/);
  });

  test.each([
    ['SERGO_PORT', '70000', 'is not between 0 and 65535'],
    ['SERGO_PORT', 'http', 'is not a whole number'],
    ['SERGO_MAX_FILE', 'much', 'is not a size'],
    ['SERGO_PUBLIC_URL', 'sergo.example.com', 'is not an http:// or https:// address'],
    ['SERGO_ALLOWED_ORIGINS', 'https://a.example/path', 'is not a list of origins'],
    ['SERGO_TRUST_PROXY', 'everyone', 'is not a list of networks'],
    ['SERGO_ALLOW_INSECURE', 'maybe', 'is neither 1 nor 0'],
  ])('%s=%s is refused', (name, text, message) => {
    expect(() => loadConfig({ [name]: text })).toThrow(`${name}=${text} ${message}`);
  });

  test('all problems are told at once', () => {
    expect(() => loadConfig({ SERGO_PORT: 'x', SERGO_DATTA: 'y' })).toThrow(/SERGO_DATTA[^]*SERGO_PORT/);
  });

  test('a config file that is not JSON is an error', () => {
    expect(() => loadConfig({ SERGO_CONFIG: write('bad.json', 'port: 1') })).toThrow(/not a readable JSON file/);
  });
});

describe('plain http', () => {
  test.each([
    [{ SERGO_PUBLIC_URL: 'http://sergo.example.com' }, /SERGO_PUBLIC_URL=http:\/\/sergo.example.com would send/],
    [{ SERGO_HOST: '0.0.0.0' }, /SERGO_HOST=0.0.0.0 can be reached/],
  ])('%j is refused unless it is allowed on purpose', (environment, message) => {
    expect(() => loadConfig(environment)).toThrow(message);
    expect(() => loadConfig({ ...environment, SERGO_ALLOW_INSECURE: '1' })).not.toThrow();
  });

  test('is fine on this machine and behind an https proxy', () => {
    expect(loadConfig({ SERGO_PUBLIC_URL: 'http://localhost:8080/' }).config.publicUrl).toBe('http://localhost:8080');
    expect(loadConfig({ SERGO_PUBLIC_URL: 'https://s.example', SERGO_HOST: '0.0.0.0' }).config.host).toBe('0.0.0.0');
    expect(['127.0.0.1', '127.9.9.9', '[::1]', 'localhost'].every(isLoopback)).toBe(true);
    expect(['0.0.0.0', '10.0.0.1', 'localhost.example.com', '127.0.0.1.example.com'].some(isLoopback)).toBe(false);
  });
});
