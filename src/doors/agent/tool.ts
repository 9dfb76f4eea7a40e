import type { ActorKey, AgentKeyActor } from '../../access/actor.ts';
import type { AuditAction } from '../../audit/actions.ts';
import type { AuditEntry } from '../../audit/types.ts';
import type { McpTool, McpToolResult } from '../mcp/types.ts';
import type { AgentDoorPorts, KeyFolders } from './ports.ts';
import { cutAtGrapheme } from './text.ts';

/** What a tool has learnt of its call so far; the audit entry is made of it, also when the call fails half-way. */
export interface AuditNote {
  documentId: string | null;
  detail: string;
  /** Of a search: so that its owner can ask it again. */
  asked?: AuditEntry['asked'];
}

export interface ToolCall {
  actor: AgentKeyActor;
  ports: AgentDoorPorts;
  signal(): AbortSignal;
  note: AuditNote;
}

/** One tool of the agent door: its description for a key, and what it does. */
export interface AgentTool {
  name: string;
  /** How the audit log calls it. */
  action: AuditAction;
  describe(key: ActorKey, folders: KeyFolders): McpTool;
  /** Throws `Refusal` or AppError with the sentence that the model reads. */
  run(call: ToolCall, args: unknown): Promise<McpToolResult>;
}

/** A call that is answered by one sentence and `isError: true`: the model can read it and try again. */
export class Refusal extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'Refusal';
  }
}

/** An answer that is one text block. */
export function answerText(text: string, isError = false): McpToolResult {
  return { content: [{ type: 'text', text }], isError };
}

/** JSON without spaces, to save the model tokens. */
export function answerJson(value: unknown): McpToolResult {
  return answerText(JSON.stringify(value));
}

/** What was asked, short enough that what came of it still fits into the log's 500 characters. */
export function shortenForAudit(text: string): string {
  const cut = cutAtGrapheme(text, 400);
  return cut.length < text.length ? `${cut}…` : cut;
}
