import { Option, type Command } from 'commander';
import { example, type CommandContext } from './command-context.ts';

export function addServerCommands(program: Command, { programs, terminal, mainPath }: CommandContext): void {
  program
    .command('serve')
    .description('run the server and one worker')
    .addHelpText(
      'after',
      example('SERGO_PORT=9000 sergo serve', 'Settings are environment variables: `sergo config show` lists them.'),
    )
    .action(async () => {
      const [{ serve }, { loadConfig }] = await Promise.all([import('./serve.ts'), import('../config.ts')]);
      await serve(loadConfig().config, mainPath, programs, terminal);
    });

  program
    .command('worker')
    .description('run a worker alone (serve has one already)')
    .addOption(new Option('--supervised', 'as a child of serve').hideHelp())
    .action(async (options: { supervised?: boolean }) => {
      const [{ work }, { loadConfig }] = await Promise.all([import('./worker.ts'), import('../config.ts')]);
      await work(loadConfig().config, options.supervised === true, programs);
    });
}
