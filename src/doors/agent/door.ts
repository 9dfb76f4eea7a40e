import { AppError } from '../../errors.ts';
import type { DoorRequest, McpCallContext, McpDoor, McpToolResult } from '../mcp/types.ts';
import { readEndUser } from './end-user.ts';
import type { AgentDoorPorts, AgentKeyView } from './ports.ts';
import { cleanLine, cutAtGrapheme } from './text.ts';
import { answerText, Refusal, type AgentTool, type AuditNote } from './tool.ts';
import { AGENT_TOOLS } from './tools.ts';

export interface AgentDoorDeps {
  ports: AgentDoorPorts;
  /** Sergo's version, as `serverInfo` has it. */
  version: string;
}

/**
 * The door of the agent key that came with a request (seeds/000). Throws AppError (`no_auth`, `bad_key`, `personal_key`,
 * `external_key`, …) when it is not an agent key: that is answered before MCP starts.
 */
export async function openAgentDoor(deps: AgentDoorDeps, request: DoorRequest): Promise<McpDoor> {
  const { requestId, remoteAddress } = request;
  const credential = await deps.ports.authenticate(request.header('authorization'), { requestId, remoteAddress });
  switch (credential.kind) {
    case 'agent':
      return buildDoor(deps, credential.key, readEndUser(request.header('x-sergo-end-user') ?? request.header('x-insight-end-user')));
    case 'login':
      throw new AppError('no_auth', 'MCP takes an agent key (sgk_s_…) in the Authorization header');
    case 'personal':
      throw new AppError('personal_key', 'Personal keys work with the API only — make a key for an agent to use MCP');
    case 'external':
      throw new AppError('external_key', 'External keys work with /api/external only — make a key for an agent to use MCP');
  }
}

function buildDoor(deps: AgentDoorDeps, key: AgentKeyView, endUser: string | null): McpDoor {
  const description = cleanLine(key.description);
  return {
    serverInfo: { description, name: key.name, title: key.name, version: deps.version },
    capabilities: { tools: { listChanged: false } },
    instructions: `${key.name} — a document store you can search.\n${description}\n${HOW_TO_USE}`,
    async listTools() {
      const folders = await deps.ports.listFolders(key);
      return AGENT_TOOLS.map((tool) => tool.describe(key, folders));
    },
    async callTool(name, args, context) {
      const tool = AGENT_TOOLS.find((candidate) => candidate.name === name);
      if (!tool) return answerText(`No tool named '${cleanLine(cutAtGrapheme(name, 120))}'.`, true);
      return callAudited(deps.ports, tool, key, endUser, args, context);
    },
  };
}

const HOW_TO_USE =
  "Use `search` first; it returns the best-matching excerpts, grouped by document. Use `read_document` with an id from this server's " +
  '`search` to read more of one document — a page, the pages around an excerpt, or the whole. Use `list_documents` to see what is here ' +
  'without searching, or when a search finds nothing. Use `view_page` to look at a page as a picture when its text is missing or a table, ' +
  'chart or figure matters — it costs more tokens than text.';

/** Runs a tool and writes its audit entry before the answer leaves: no entry, no answer. */
async function callAudited(
  ports: AgentDoorPorts,
  tool: AgentTool,
  key: AgentKeyView,
  endUser: string | null,
  args: unknown,
  context: McpCallContext,
): Promise<McpToolResult> {
  const note: AuditNote = { documentId: null, detail: '' };
  const record = (outcome: 'ok' | 'denied' | 'error', because = '') =>
    ports.recordAudit({
      key,
      endUser,
      action: tool.action,
      documentId: note.documentId,
      detail: [note.detail, because].filter((part) => part !== '').join(' — '),
      outcome,
      requestId: context.requestId,
    });
  let result: McpToolResult;
  try {
    result = await tool.run({ key, ports, signal: context.signal, note }, args);
  } catch (error) {
    const sentence = readSentence(error);
    if (sentence === null) {
      await record('error', 'internal error');
      throw error;
    }
    const denied = error instanceof AppError && (error.code === 'not_found' || error.code === 'forbidden');
    await record(denied ? 'denied' : 'error', denied ? '' : sentence);
    return answerText(sentence, true);
  }
  await record('ok');
  return result;
}

/** What a caller can act on; null for what is our fault. */
function readSentence(error: unknown): string | null {
  if (error instanceof Refusal) return error.message;
  return error instanceof AppError && error.code !== 'internal' ? error.message : null;
}
