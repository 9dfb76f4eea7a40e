/** What the command line needs of the rest: `app.ts` provides it, tests give something smaller. */
import type { Config } from '../config.ts';
import type { SearchResult } from '../doors/console/ports.ts';
import type { LibraryDeps } from '../library/deps.ts';
import type { SearchPorts } from '../search/replay.ts';
import type { SearchIndex } from '../search/types.ts';

/** The library's services over the data folder, for one command. Works beside a running server. */
export interface OpenServices {
  deps: LibraryDeps;
  close(): Promise<void>;
}

/** The same with the search that agents get. */
export interface OpenSearch extends OpenServices {
  index: SearchIndex;
  ports: SearchPorts<SearchResult>;
}

export interface RunningServer {
  /** As reached on this machine, such as http://127.0.0.1:8080; the public address where one is set. */
  url: string;
  /** Only while there is no admin: the one-time token, and the file (0600) that holds it too. */
  setupToken: { token: string; file: string } | null;
  /** Stops accepting, lets requests finish, closes everything. */
  stop(): Promise<void>;
}

export interface RunningWorker {
  /** Gives leases back and closes everything. */
  stop(): Promise<void>;
}

export interface Programs {
  openServices(config: Config): Promise<OpenServices>;
  openSearch(config: Config): Promise<OpenSearch>;
  startServer(config: Config): Promise<RunningServer>;
  startWorker(config: Config): Promise<RunningWorker>;
}
