import type { RpcMessage } from './envelope.ts';
import { SESSION_NOT_FOUND } from './protocol.ts';
import { RpcError } from './rpc-error.ts';
import type { DoorRequest, McpSessions } from './types.ts';

export const SESSION_HEADER = 'mcp-session-id';

/**
 * Lets a message of a door with sessions through: `initialize` always (also with an old id), everything else only inside
 * a session of this caller. Sent but unknown is 404, so that clients open a new one; none sent is 400 (mcp.md decision 5).
 */
export async function requireSession(
  sessions: McpSessions,
  message: RpcMessage,
  headers: Pick<DoorRequest, 'header'>,
): Promise<void> {
  if (message.kind === 'request' && message.method === 'initialize') return;
  const id = headers.header(SESSION_HEADER);
  if (id === undefined) throw new RpcError(SESSION_NOT_FOUND, 'Session not found', { status: 400 });
  if (!(await sessions.use(id))) throw new RpcError(SESSION_NOT_FOUND, 'Session not found', { status: 404 });
}
