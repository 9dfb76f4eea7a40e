import type { LibraryDeps } from '../library/deps.ts';
import type { OpenSearch, Programs } from './services.ts';
import type { Terminal } from './terminal.ts';

/**
 * What every command's definition gets. Commands load what they do with `import()` when they run: `--help` and the
 * completion of a mistyped name should not wait for the whole house.
 */
export interface CommandContext {
  programs: Programs;
  terminal: Terminal;
  /** src/main.ts, for the worker that `serve` starts. */
  mainPath: string;
  /** Was `--json` given? */
  asJson(): boolean;
  /** Prints a result in the form that was asked for. */
  show(result: unknown, text: string): void;
  /** Opens the library's services over the data folder for one action. */
  withServices<T>(action: (deps: LibraryDeps) => Promise<T>): Promise<T>;
  /** The same with search. */
  withSearch<T>(action: (search: OpenSearch) => Promise<T>): Promise<T>;
  /** Called with 1 when a command did what it could and the result is not good. */
  setExitCode(code: number): void;
}

/** Text for the end of a command's help. */
export const example = (command: string, more = ''): string =>
  `\nExample:\n  ${command}\n${more === '' ? '' : `\n${more}\n`}`;
