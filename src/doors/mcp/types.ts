/** A door is data: the JSON-RPC envelope in `doors/mcp` knows no tool, the doors know no envelope (mcp.md section 0). */

export interface McpTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations?: Record<string, unknown>;
}

export type McpContent =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
  | { type: 'audio'; data: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType: string; blob?: string; text?: string } };

/** Shape of `tools/call` results; key order on the wire is `content`, `isError`. */
export interface McpToolResult {
  content: McpContent[];
  isError: boolean;
}

/** What a door knows of one authenticated request. */
export interface McpCallContext {
  requestId: string;
  signal: AbortSignal;
}

/** One door for one caller: made per request from the key that came with it. */
export interface McpDoor {
  serverInfo: { name: string; title: string; version: string; description: string };
  capabilities: { tools: { listChanged: boolean } };
  instructions: string;
  listTools(): Promise<McpTool[]>;
  /** Never throws for what a caller can act on: those are `isError` results. */
  callTool(name: string, args: unknown, context: McpCallContext): Promise<McpToolResult>;
}
