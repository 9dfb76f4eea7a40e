import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUTHORIZATION, startListeningDoor, type ListeningDoor } from './listening-door.ts';

const INSPECTOR = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
);

/** Runs `tools/list --strict`, which makes trouble between clients and schemas an exit code of its own. */
async function inspect(url: string, era: string): Promise<{ exitCode: number; stdout: string }> {
  const args = [
    INSPECTOR,
    '--cli',
    url,
    '--transport',
    'http',
    '--method',
    'tools/list',
    '--strict',
    '--protocol-era',
    era,
  ];
  const authorized = [...args, '--header', `Authorization: ${AUTHORIZATION}`, '-q'];
  return promisify(execFile)(process.execPath, authorized).then(
    ({ stdout }) => ({ exitCode: 0, stdout }),
    (error: { code: number; stdout: string }) => ({ exitCode: error.code, stdout: error.stdout }),
  );
}

let server: ListeningDoor;
let withBadSchema: ListeningDoor;

beforeAll(async () => {
  server = await startListeningDoor();
  withBadSchema = await startListeningDoor((door) => ({
    ...door,
    listTools: async () => [
      { name: 'bad', description: 'Takes anything', inputSchema: { type: 'object', properties: { anything: true } } },
    ],
  }));
});

afterAll(async () => {
  await server.app.close();
  await withBadSchema.app.close();
});

describe('mcp-inspector --cli --strict', () => {
  it.each(['legacy', 'modern', 'auto'])(
    'lists the tools in the %s era without a complaint',
    { timeout: 60_000 },
    async (era) => {
      const { exitCode, stdout } = await inspect(server.url, era);
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout).tools.map((tool: { name: string }) => tool.name)).toEqual([
        'search',
        'list_documents',
        'read_document',
        'view_page',
      ]);
    },
  );

  it('would have complained about a schema that some clients refuse', { timeout: 60_000 }, async () => {
    expect((await inspect(withBadSchema.url, 'legacy')).exitCode).toBe(6);
  });
});
