import type { Generated } from 'kysely';
import type {
  AskedSearch,
  AuditRow,
  ChunkRow,
  DocumentRow,
  FileRow,
  FolderRow,
  GrantRow,
  JobRow,
  JudgedPageRow,
  KeyRow,
  KeyValueRow,
  PageRow,
  SessionRow,
  UserRow,
} from '../ports.ts';

type Stored<Row, Encoded extends Partial<Record<keyof Row, unknown>>> = Omit<Row, keyof Encoded> & Encoded;
type WithRef<Row> = Omit<Row, 'ref'> & { ref: Generated<number> };

/** Column types as SQLite holds them (encode.ts says how they come to be); names are snake_case on disk, camelCase here. */
export interface Schema {
  users: WithRef<Omit<UserRow, 'rootFolder'> & { rootFolder: number | null }>;
  sessions: SessionRow;
  folders: WithRef<FolderRow>;
  documents: WithRef<
    Stored<
      DocumentRow,
      { notices: string; progress: string | null; pagesEstimated: number; pagesToView: string; imageOnlyPages: string }
    >
  >;
  files: WithRef<FileRow>;
  drawnPages: { fileSha256: string; page: number; kind: string; sha256: string; bytes: number };
  pages: Stored<PageRow, { toView: number; sections: string }>;
  chunks: WithRef<ChunkRow>;
  jobs: WithRef<JobRow>;
  keys: WithRef<KeyRow>;
  keyValues: KeyValueRow;
  keyFolders: { key: number; folder: number };
  keyDocuments: { key: number; document: number };
  grants: WithRef<GrantRow>;
  audit: AuditRow;
  auditActors: { actorId: string; seq: number };
  auditObjects: { objectId: string; seq: number };
  askedSearches: { seq: number } & Stored<AskedSearch, { folders: string | null }>;
  judgedPages: WithRef<JudgedPageRow>;
  settings: { name: string; value: string };
}
