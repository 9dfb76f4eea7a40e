import type { Base64 } from './wire-text.ts';

/** A door is data: the JSON-RPC envelope in `doors/mcp` knows no tool, the doors know no envelope (mcp.md section 0). */

export interface McpTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations?: Record<string, unknown>;
}

export type McpContent =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string | Base64; mimeType: string }
  | { type: 'audio'; data: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType: string; blob?: string | Base64; text?: string } };

/** Shape of `tools/call` results; key order on the wire is `content`, `isError`. */
export interface McpToolResult {
  content: McpContent[];
  isError: boolean;
}

/** What a door knows of one authenticated request. */
export interface McpCallContext {
  requestId: string;
  /** Aborted when the client goes away or the call's time is up. */
  signal(): AbortSignal;
  /** What a client of the modern era declared with this request; absent in the legacy era. */
  clientCapabilities?: Record<string, unknown>;
  /**
   * Set by a door that has something to do before a call is given up: called once when its time is up, with the sentence for the
   * caller; what it resolves to is the answer. Without it the sentence is.
   */
  giveUp?(sentence: string): Promise<McpToolResult>;
}

/** One door for one caller: made per request from the key that came with it. */
export interface McpDoor {
  serverInfo: { name: string; title: string; version: string; description: string };
  capabilities: { tools: { listChanged: boolean } };
  instructions: string;
  listTools(): Promise<McpTool[]>;
  /**
   * Never throws for what a caller can act on: those are `isError` results. `RpcError` is for what the protocol wants as
   * an error of its own (a scope that is missing, a capability not declared); anything else is our fault and is answered
   * by the generic sentence.
   */
  callTool(name: string, args: unknown, context: McpCallContext): Promise<McpToolResult>;
  /** Only for a door with sessions (legacy era); a door without them keeps nothing between requests. */
  sessions?: McpSessions;
}

/**
 * Sessions of one caller. A session of somebody else is exactly as unknown as one that never was, or has run out; using
 * one extends it. They live in the database, so that they survive a restart (mcp.md section 6, complaint 9).
 */
export interface McpSessions {
  /** Answers the new session's id: visible ASCII from a strong random source. */
  open(opening: { protocolVersion: string; clientInfo: unknown }): Promise<string>;
  /** False when the id is unknown, run out or somebody else's. */
  use(id: string): Promise<boolean>;
  /** False when there was nothing to close. */
  close(id: string): Promise<boolean>;
}

/** What a door may look at to decide who is asking; header names are lower-case. */
export interface DoorRequest {
  requestId: string;
  remoteAddress: string;
  /** What it came over: the same object for the next request over it. */
  connection: object;
  /** One value a header: the endpoint has refused requests that sent one of ours twice. */
  header(name: string): string | undefined;
}
