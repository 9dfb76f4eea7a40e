import { randomUUID } from 'node:crypto';
import { createWriteStream, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { AuditVerdict } from '../audit/types.ts';
import { AppError } from '../errors.ts';
import type { LibraryDeps } from '../library/deps.ts';

const headSchema = z.object({ seq: z.number().int().positive(), hash: z.string().regex(/^[0-9a-f]{64}$/) });

/** Walks the whole chain; `headFile` holds what `sergo audit head` printed earlier, and shows whether the end was cut. */
export function verifyAudit(deps: LibraryDeps, headFile: string | undefined): Promise<AuditVerdict> {
  return deps.audit.verify(headFile === undefined ? undefined : readHead(headFile));
}

function readHead(file: string): { seq: number; hash: string } {
  try {
    return headSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    throw new AppError(
      'invalid',
      `${file} is not a head that \`sergo audit head\` printed, such as {"seq":12,"hash":"…64 hex digits…"}.`,
    );
  }
}

export function formatVerdict(verdict: AuditVerdict): string {
  if (verdict.fault !== null)
    return `The audit log is NOT intact: ${verdict.fault.problem} (entry ${verdict.fault.seq}).`;
  if (verdict.head === null) return 'The audit log is empty.';
  return `The audit log is intact: ${verdict.rows} entries, the last one has the hash ${verdict.head.hash}.`;
}

/** Writes the log, oldest first, to a file (0600) or to stdout (`-`). The export is itself an entry of the log. */
export async function exportAudit(deps: LibraryDeps, format: 'jsonl' | 'csv', file: string): Promise<void> {
  await deps.audit.record({
    actor: { kind: 'system', name: 'command line', requestId: randomUUID() },
    action: 'audit exported',
    detail: format,
  });
  const lines = deps.audit.export(format);
  if (file !== '-') {
    await pipeline(Readable.from(lines), createWriteStream(file, { mode: 0o600 }));
    return;
  }
  for await (const line of lines) {
    if (!process.stdout.write(line)) await once(process.stdout, 'drain');
  }
}
