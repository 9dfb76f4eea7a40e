/** Proves that the linter's layer rules bite: each wrong import, written into a temporary tree, is reported. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const tree = mkdtempSync(join(tmpdir(), 'sergo-layers-'));
afterAll(() => rmSync(tree, { recursive: true, force: true }));

const wrong: [file: string, line: string][] = [
  ['src/doors/agent/a.ts', `import '../../storage/sqlite/documents.ts';`],
  ['src/doors/agent/b.ts', `import '../../formats/pdf.ts';`],
  ['src/doors/agent/c.ts', `import '../../sandbox/child.ts';`],
  ['src/doors/console/d.ts', `import '../../ai/chat.ts';`],
  ['src/doors/console/e.ts', `import 'kysely';`],
  ['src/doors/console/f.ts', `import '../../app.ts';`],
  ['src/library/a.ts', `import '../doors/agent/door.ts';`],
  ['src/library/b.ts', `import 'fastify';`],
  ['src/library/c.ts', `import 'kysely';`],
  ['src/library/d.ts', `import 'better-sqlite3';`],
  ['src/library/e.ts', `export const later = (): Promise<unknown> => import('@fastify/multipart');`],
  ['src/access/a.ts', `import '@modelcontextprotocol/server';`],
  ['src/access/b.ts', `import type { X } from '../doors/mcp/types.ts';\nexport type Y = X;`],
  ['src/access/c.ts', `import 'node:http';`],
  ['src/search/a.ts', `import 'better-sqlite3';`],
  ['src/processing/a.ts', `import '../doors/console/server.ts';`],
  ['src/audit/a.ts', `import '../app.ts';`],
  ['src/storage/sqlite/a.ts', `import '../../library/documents.ts';`],
  ['src/storage/sqlite/b.ts', `import '../../doors/console/server.ts';`],
  ['src/formats/a.ts', `import '../library/documents.ts';`],
  ['src/formats/b.ts', `import '../storage/ports.ts';`],
  ['src/sandbox/a.ts', `import '../access/keys.ts';`],
  ['src/ai/a.ts', `import '../processing/queue.ts';`],
  ['src/cli/a.ts', `import 'better-sqlite3';`],
  ['src/library/env.ts', `export const home = process.env.HOME;`],
  ['src/cli/env.ts', `export const home = process.env.HOME;`],
];

const right: [file: string, line: string][] = [
  ['src/doors/agent/ok.ts', `import '../../library/documents.ts';\nimport '../../access/policy.ts';`],
  [
    'src/doors/console/ok.ts',
    `import 'fastify';\nimport type { X } from '../../storage/ports.ts';\nexport type Y = X;`,
  ],
  ['src/library/ok.ts', `import '../storage/ports.ts';\nimport '../audit/log.ts';`],
  ['src/storage/sqlite/ok.ts', `import 'kysely';\nimport 'better-sqlite3';\nimport '../../search/types.ts';`],
  ['src/sandbox/ok.ts', `import '../formats/index.ts';`],
  ['src/config.ts', `export const home = process.env.HOME;`],
];

interface Finding {
  filename: string;
  code: string;
}

function lint(files: [string, string][], options: string[] = []): Finding[] {
  cpSync(join(root, '.oxlintrc.json'), join(tree, '.oxlintrc.json'));
  for (const [file, text] of files) {
    mkdirSync(dirname(join(tree, file)), { recursive: true });
    writeFileSync(join(tree, file), `${text}\n`);
  }
  const run = spawnSync(join(root, 'node_modules/.bin/oxlint'), ['-f', 'json', ...options], {
    cwd: tree,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}` },
  });
  return (JSON.parse(run.stdout) as { diagnostics: Finding[] }).diagnostics;
}

const layerRules = ['eslint(no-restricted-imports)', 'node(no-process-env)'];

test('every import against the direction is reported, and none along it', () => {
  const findings = lint([...wrong, ...right]).filter((finding) => layerRules.includes(finding.code));
  const reported = new Set(findings.map((finding) => finding.filename));
  expect([...reported].sort()).toEqual(wrong.map(([file]) => file).sort());
});

test('a promise that nobody awaits is reported', () => {
  writeFileSync(join(tree, 'tsconfig.json'), JSON.stringify({ compilerOptions: { strict: true }, include: ['src'] }));
  const text = 'async function save(): Promise<void> {}\nexport function run(): void {\n  save();\n}';
  const findings = lint([['src/library/floating.ts', text]], ['--type-aware', 'src/library/floating.ts']);
  expect(findings.map((finding) => finding.code)).toContain('typescript(no-floating-promises)');
});
