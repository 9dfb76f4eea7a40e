/**
 * What `mcp.ts` measures: Sergo's HTTP server, MCP endpoint and agent door over embedded storage on disk, with the real key
 * look-up, scope and audit log. Only what a listing needs is wired here.
 */
import { pino } from 'pino';
import { authenticateForAgentDoor } from '../src/access/authentication.ts';
import { createKey } from '../src/access/keys.ts';
import { scopeOf } from '../src/access/scope.ts';
import { openAgentDoor } from '../src/doors/agent/door.ts';
import type { AgentDoorPorts } from '../src/doors/agent/ports.ts';
import { createHttpMetrics } from '../src/doors/http-metrics.ts';
import { createHttpServer } from '../src/doors/http-server.ts';
import { registerMcpEndpoint } from '../src/doors/mcp/endpoint.ts';
import { openTestLibrary } from '../test/support/library.ts';
import { readyMessage } from './mcp-target.ts';

const library = await openTestLibrary();
const { storage } = library;
const ava = await library.person('Ava Bennett', 'admin');
const folderId = await library.folderIn(ava, ava.rootId, 'Energy outlooks');
for (let count = 0; count < 20; count++) await library.upload(ava, folderId, `outlook-${count}.txt`);
const description =
  "EIA's 2023 energy outlook release decks, uploaded as PowerPoint files: the International Energy Outlook 2023 (IEO2023, world projections to 2050) and the Annual Energy Outlook 2023 (AEO2023, United States projections to 2050)";
const { key } = await createKey(library, ava, {
  kind: 'agent',
  name: 'energy-outlooks',
  description,
  folderIds: [folderId],
  documentIds: [],
});

const notMeasured = () => Promise.reject(new Error('not part of this benchmark'));

const ports: AgentDoorPorts = {
  authenticate: ({ requestId, endUser, ...credentials }) =>
    authenticateForAgentDoor(library, credentials, { requestId, endUser }),
  async listFolders(actor) {
    const { roots, tree } = await scopeOf(storage, actor);
    return {
      names: roots.map((folder) => folder.name),
      inside: tree.filter((folder) => !roots.includes(folder)).map((folder) => folder.name),
    };
  },
  chooseFolders: async (actor) => ({ scope: await scopeOf(storage, actor) }),
  async listDocuments(scope, { limit, offset }) {
    const [total, rows] = [await storage.documents.count(scope), await storage.documents.list(scope, limit, offset)];
    const paths = await storage.folders.paths(rows.map((row) => row.folder));
    const items = rows.map((row) => ({
      ...row,
      folder: paths.get(row.folder) ?? '',
      status: row.status === 'failed' ? ('not_indexed' as const) : row.status,
    }));
    return { total, items };
  },
  search: notMeasured,
  findDocument: notMeasured,
  readPages: notMeasured,
  drawPage: notMeasured,
  audit: library.audit,
};

const app = createHttpServer({
  config: { publicUrl: 'http://127.0.0.1:8080', host: '127.0.0.1' },
  log: pino({ level: 'info' }, pino.destination('/dev/null')),
  metrics: createHttpMetrics(),
  readiness: notMeasured,
});
await registerMcpEndpoint(app, {
  path: '/mcp',
  hosts: app.hostRules,
  openDoor: (request) => openAgentDoor({ ports, version: '0.6.0' }, request),
});
const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp`;
console.log(readyMessage({ url, authorization: `Bearer ${key}` }));

process.once('SIGTERM', () => {
  void (async () => {
    app.server.closeAllConnections();
    await app.close();
    await library.close();
    process.exit(0);
  })();
});
