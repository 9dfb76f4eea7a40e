/**
 * The wording of the audit log, in one place. The four `mcp …` are the reference's own (seeds/000, last table); the rest follow
 * their pattern: what was looked at or changed, in the past or as a noun, lower case.
 *
 * | action | object | detail |
 * | --- | --- | --- |
 * | `mcp search` | — | the query, the number of results, `from <offset>` when an offset is given |
 * | `mcp listing` | — | the folders asked for or `whole scope`, the number of documents |
 * | `mcp text read` | document | file, `page 18`, `all pages` or `pages 1-k of N` |
 * | `mcp page viewed` | document | file, page, format |
 * | `mcp refused` | — | a tool call that named nothing it may see, or a request refused before MCP |
 * | `search`, `text read`, `page viewed`, `file downloaded` | document | the same looks through the API |
 * | `search replayed` | key | the number of its entry here, the query, the number of results then and now |
 * | `judged …` | judged page | query and document |
 * | `document …`, `folder …`, `key …`, `user …`, `grant …` | that object | what changed, old → new |
 * | `sign-in`, `sign-out`, `set-up` | user | — |
 */
export const auditActions = [
  'mcp search',
  'mcp listing',
  'mcp text read',
  'mcp page viewed',
  'mcp refused',
  'search',
  'text read',
  'page viewed',
  'file downloaded',
  'document read',
  'document uploaded',
  'document renamed',
  'document moved',
  'document trashed',
  'document restored',
  'document purged',
  'document replaced',
  'document reprocessed',
  'document cancelled',
  'document processed',
  'pdf copy asked for',
  'pdf copy made',
  'folder read',
  'folder created',
  'folder renamed',
  'folder moved',
  'folder trashed',
  'folder restored',
  'folder purged',
  'key created',
  'key edited',
  'key rolled',
  'key revoked',
  'key read',
  'user created',
  'user edited',
  'user disabled',
  'user enabled',
  'user read',
  'password changed',
  'password reset',
  'grant given',
  'grant removed',
  'grant read',
  'sign-in',
  'sign-out',
  'set-up',
  'request refused',
  'audit read',
  'audit exported',
  'setting changed',
  'search replayed',
  'judged page saved',
  'judged page removed',
  'judged page read',
  'judged pages run',
] as const;

export type AuditAction = (typeof auditActions)[number];
