/** Where the program starts: picks the command, and turns what is thrown into a sentence and an exit code. */
import { CommanderError } from 'commander';
import { mainPath, programs, version } from './app.ts';
import { buildProgram } from './cli/program.ts';
import { forgiveClosedPipes, processTerminal } from './cli/terminal.ts';
import { AppError } from './errors.ts';

let exitCode = 0;
forgiveClosedPipes();
const program = buildProgram({ programs, terminal: processTerminal, mainPath, version, setExitCode: (code) => (exitCode = code) });
try {
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CommanderError) exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    processTerminal.note(`sergo: ${tell(error)}`);
    exitCode = 1;
  }
}
process.exitCode = exitCode;

/** What a person can act on is one sentence; anything else is ours, and then the stack is what helps. */
function tell(error: unknown): string {
  if (error instanceof AppError) return error.message;
  if (!(error instanceof Error)) return String(error);
  const isIncomplete = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED'].includes(String((error as { code?: unknown }).code)) || error.message.startsWith('Could not load');
  return isIncomplete ? `${error.message.split('\n')[0]} — the installed packages are not complete: remove node_modules and run bin/install` : String(error.stack);
}
