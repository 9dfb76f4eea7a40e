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
    // What a person can act on is one sentence; anything else is ours, and then the stack is what helps.
    processTerminal.note(`sergo: ${error instanceof AppError ? error.message : String(error instanceof Error ? error.stack : error)}`);
    exitCode = 1;
  }
}
process.exitCode = exitCode;
