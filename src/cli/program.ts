/** The command line as a whole. Commands are defined in the `*-commands.ts` files; what they do is in the files they load. */
import { Command } from 'commander';
import { addAuditCommands } from './audit-commands.ts';
import type { CommandContext } from './command-context.ts';
import { addKeyCommands } from './key-commands.ts';
import { addLibraryCommands } from './library-commands.ts';
import { addMachineCommands } from './machine-commands.ts';
import { addSearchCommands } from './search-commands.ts';
import { addServerCommands } from './server-commands.ts';

export interface ProgramOptions extends Pick<CommandContext, 'programs' | 'terminal' | 'mainPath' | 'setExitCode'> {
  version: string;
}

/** A wrong command line throws CommanderError instead of ending the process. */
export function buildProgram(options: ProgramOptions): Command {
  const { programs, terminal, mainPath, setExitCode } = options;
  const program = new Command('sergo')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.note(text.trimEnd()),
    })
    .showHelpAfterError('Add --help for what it takes.')
    .description('A library of documents with governed doors for AI agents.')
    .version(options.version)
    .option('--json', 'print results as JSON, for scripts')
    .addHelpText('after', firstSteps);

  const context: CommandContext = {
    programs,
    terminal,
    mainPath,
    setExitCode,
    asJson: () => program.opts<{ json?: boolean }>().json === true,
    show: (result, text) => terminal.out(context.asJson() ? JSON.stringify(result) : text),
    async withServices(action) {
      const { loadConfig } = await import('../config.ts');
      const services = await programs.openServices(loadConfig().config);
      try {
        return await action(services.deps);
      } finally {
        await services.close();
      }
    },
    async withSearch(action) {
      const { loadConfig } = await import('../config.ts');
      const search = await programs.openSearch(loadConfig().config);
      try {
        return await action(search);
      } finally {
        await search.close();
      }
    },
  };
  addServerCommands(program, context);
  addLibraryCommands(program, context);
  addKeyCommands(program, context);
  addAuditCommands(program, context);
  addSearchCommands(program, context);
  addMachineCommands(program, context);
  return program;
}

const firstSteps = `
First steps:
  sergo serve                                             run it; it prints its address and a set-up token
  sergo setup --name "Ava Bennett" --email ava@example.com --password-file password.txt
  sergo import ~/outlooks --into "Energy outlooks"        bring files in
  sergo keys create --name energy-outlooks --folder "Energy outlooks" --description "Outlook decks of the EIA"
                                                          a key for an agent, and how to connect with it
  sergo doctor                                            what is missing on this machine, and what that costs

Exit codes: 0 done, 1 not done (the reason is on stderr), 2 the command line was wrong.`;
