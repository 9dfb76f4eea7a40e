import type { ActorKey, AgentKeyActor } from '../../access/actor.ts';
import type { AuditAction } from '../../audit/actions.ts';
import type { AuditEntry } from '../../audit/types.ts';
import { AppError } from '../../errors.ts';
import type { DoorRequest, McpCallContext, McpDoor, McpTool, McpToolResult } from '../mcp/types.ts';
import { readEndUser } from './end-user.ts';
import type { AgentDoorPorts, KeyFolders } from './ports.ts';
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
 * `external_key`, …) when there is none: that is answered before MCP starts.
 */
export async function openAgentDoor(deps: AgentDoorDeps, request: DoorRequest): Promise<McpDoor> {
  const actor = await deps.ports.authenticate({
    authorization: request.header('authorization'),
    xApiKey: request.header('x-api-key'),
    endUser: readEndUser(request),
    requestId: request.requestId,
    remoteAddress: request.remoteAddress,
    connection: request.connection,
  });
  return buildDoor(deps, actor);
}

function buildDoor(deps: AgentDoorDeps, actor: AgentKeyActor): McpDoor {
  const { key } = actor;
  const { serverInfo, instructions } = presentKey(key, deps.version);
  return {
    serverInfo,
    capabilities: { tools: { listChanged: false } },
    instructions,
    listTools: async () => describeTools(key, await deps.ports.listFolders(actor)),
    async callTool(name, args, context) {
      const tool = AGENT_TOOLS.find((candidate) => candidate.name === name);
      if (tool) return callAudited(deps.ports, tool, actor, args, context);
      const shown = cleanLine(cutAtGrapheme(name, 120));
      await deps.ports.audit.record({
        actor,
        action: 'mcp refused',
        detail: `${shown} — no such tool`,
        outcome: 'error',
      });
      return answerText(`No tool named '${shown}'.`, true);
    },
  };
}

type Presented = Pick<McpDoor, 'serverInfo' | 'instructions'>;

/** How keys were presented, by their row: with each request the same until somebody edits the key. */
const presented = new Map<number, Presented & { description: string }>();
const MAX_PRESENTED = 1000;

function presentKey({ ref, name, description }: ActorKey, version: string): Presented {
  const known = presented.get(ref);
  if (known?.serverInfo.name === name && known.description === description && known.serverInfo.version === version) return known;
  const line = cleanLine(description);
  const made = {
    description,
    serverInfo: { description: line, name, title: name, version },
    instructions: `${name} — a document store you can search.\n${line}\n${HOW_TO_USE}`,
  };
  if (presented.size >= MAX_PRESENTED) presented.clear();
  presented.set(ref, made);
  return made;
}

/** What a key's tools were described as, for as long as the same folders come: a list of tools is asked for often, and changes rarely. */
const described = new WeakMap<KeyFolders, { name: string; description: string; tools: McpTool[] }>();

function describeTools(key: ActorKey, folders: KeyFolders): McpTool[] {
  const { name, description } = key;
  const known = described.get(folders);
  if (known?.name === name && known.description === description) return known.tools;
  const tools = AGENT_TOOLS.map((tool) => tool.describe(key, folders));
  described.set(folders, { name, description, tools });
  return tools;
}

const HOW_TO_USE =
  "Use `search` first; it returns the best-matching excerpts, grouped by document. Use `read_document` with an id from this server's " +
  '`search` to read more of one document — a page, the pages around an excerpt, or the whole. Use `list_documents` to see what is here ' +
  'without searching, or when a search finds nothing. Use `view_page` to look at a page as a picture when its text is missing or a table, ' +
  'chart or figure matters — it costs more tokens than text.';

/**
 * Runs a tool and writes its audit entry before the answer leaves: no entry, no answer, and one entry for each. A call whose time is
 * up is written down as stopped; what its tool still comes to goes nowhere, and so no entry says that it was handed out.
 */
function callAudited(
  ports: AgentDoorPorts,
  tool: AgentTool,
  actor: AgentKeyActor,
  args: unknown,
  context: McpCallContext,
): Promise<McpToolResult> {
  const note: AuditNote = { documentId: null, detail: '' };
  let entry: Promise<void> | null = null;
  const record = (action: AuditAction, outcome: AuditEntry['outcome'], ...details: string[]): Promise<void> =>
    (entry ??= ports.audit.record({
      actor,
      action,
      outcome,
      detail: details.filter((detail) => detail !== '').join(' — '),
      ...(note.asked && { asked: note.asked }),
      ...(note.documentId !== null && { object: { kind: 'document', id: note.documentId } }),
    }));
  const run = async (): Promise<McpToolResult> => {
    let result: McpToolResult;
    try {
      result = await tool.run({ actor, ports, note, signal: context.signal }, args);
    } catch (error) {
      const sentence = readSentence(error);
      if (sentence === null) {
        await record(tool.action, 'error', note.detail, 'internal error');
        throw error;
      }
      const denied = error instanceof AppError && (error.code === 'not_found' || error.code === 'forbidden');
      if (denied) await record('mcp refused', 'denied', tool.name, note.detail);
      else await record(tool.action, 'error', note.detail, sentence);
      return answerText(sentence, true);
    }
    await record(tool.action, 'ok', note.detail);
    return result;
  };
  const running = run();
  context.giveUp = async (sentence) => {
    // It ended in time and only its entry is waited for: that is what happened.
    if (entry !== null) return running;
    await record(tool.action, 'error', note.detail, sentence);
    return answerText(sentence, true);
  };
  return running;
}

/** What a caller can act on; null for what is our fault. */
function readSentence(error: unknown): string | null {
  if (error instanceof Refusal) return error.message;
  return error instanceof AppError && error.code !== 'internal' ? error.message : null;
}
