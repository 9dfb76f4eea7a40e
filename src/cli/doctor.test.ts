import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { loadConfig } from '../config.ts';
import { lockDataFolder } from '../storage/data-folder-lock.ts';
import { examine, formatChecks, isFit, type Check } from './doctor.ts';

const folder = mkdtempSync(join(tmpdir(), 'sergo-doctor-'));
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

test('what is missing is named with what it costs and the command that brings it', () => {
  const checks: Check[] = [
    { name: 'Node', state: 'ok', found: '24.21.0' },
    { name: 'qpdf', state: 'missing', found: 'not found', cost: 'one-page PDFs come out larger', package: 'qpdf' },
    { name: 'Python with UNO', state: 'missing', found: 'not found', cost: 'no PDF copies', package: 'python3-uno' },
  ];
  expect(formatChecks(checks)).toBe(
    [
      'ok       Node             24.21.0',
      'MISSING  qpdf             not found',
      'MISSING  Python with UNO  not found',
      '',
      'qpdf: one-page PDFs come out larger.',
      'Python with UNO: no PDF copies.',
      '',
      'On Debian or Ubuntu:',
      '  sudo apt-get install -y --no-install-recommends qpdf python3-uno',
    ].join('\n'),
  );
  expect(isFit(checks)).toBe(true);
  expect(isFit([...checks, { name: 'Data folder', state: 'failed', found: '/x', cost: 'it cannot be written' }])).toBe(false);
});

test('programs that are not on this machine are missing, and a running server is seen', async () => {
  const { config } = loadConfig({ SERGO_DATA: join(folder, 'data') });
  vi.stubEnv('PATH', folder);
  const lock = lockDataFolder(config.dataFolder);
  const state = Object.fromEntries((await examine(config)).map((check) => [check.name, check]));
  lock.release();
  expect(state).toMatchObject({ Node: { state: 'ok' }, qpdf: { state: 'missing' }, tesseract: { state: 'missing' }, LibreOffice: { state: 'missing' } });
  expect(state['Data folder']).toEqual({ name: 'Data folder', state: 'ok', found: `${config.dataFolder} (a server is running on it)` });
});
