import { isUtf8 } from 'node:buffer';
import type { DoorRequest } from '../mcp/types.ts';

/**
 * The person an agent says it acts for (`X-Sergo-End-User`): a claim that goes into the audit log and changes no right. Node
 * hands header bytes over as Latin-1, clients send names as UTF-8. Cutting and escaping is the log's business.
 */
export function readEndUser(request: Pick<DoorRequest, 'header'>): string | undefined {
  const value = request.header('x-sergo-end-user') ?? request.header('x-insight-end-user');
  if (value === undefined) return undefined;
  const bytes = Buffer.from(value, 'latin1');
  return bytes.toString('latin1') === value && isUtf8(bytes) ? bytes.toString('utf8') : value;
}
