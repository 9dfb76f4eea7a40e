import type { Command } from 'commander';
import { example, type CommandContext } from './command-context.ts';

export function addLibraryCommands(program: Command, context: CommandContext): void {
  const { terminal, programs, withServices, show, setExitCode } = context;

  program
    .command('setup')
    .description('make the first admin, with the server running or not')
    .requiredOption('--name <name>', 'their name; their documents go into "<name>\'s documents"')
    .requiredOption('--email <address>', 'what they sign in with')
    .requiredOption('--password-file <file>', 'a file that holds the password alone, or - for stdin')
    .addHelpText(
      'after',
      example('sergo setup --name "Ava Bennett" --email ava@example.com --password-file password.txt'),
    )
    .action(async ({ name, email, passwordFile }: { name: string; email: string; passwordFile: string }) => {
      const { readPassword, setup } = await import('./setup.ts');
      const password = readPassword(passwordFile);
      const made = await withServices((services) => setup(services, { name, email, password }));
      const { forgetSetupToken } = await import('../app/setup-token.ts');
      const { loadConfig } = await import('../config.ts');
      await forgetSetupToken(loadConfig().config.dataFolder);
      terminal.out(JSON.stringify(made));
      terminal.note(`${name} is the admin now and can sign in as ${email}.`);
    });

  program
    .command('import')
    .description('bring a whole folder of files in; run it again to go on where it stopped')
    .argument('<directory>', 'folder on this machine')
    .requiredOption(
      '--into <folder>',
      'folder in Sergo, made if it is missing; a path like "Energy outlooks/Basic" works',
    )
    .option('--as <email>', 'whose documents they become (needed when there are several users)')
    .option('--preset <preset>', 'how they are read', 'basic')
    .option('--no-wait', 'do not wait until they are read')
    .addHelpText(
      'after',
      example(
        'sergo import ~/outlooks --into "Energy outlooks"',
        'Ends with 0 when every file is in and readable, with 1 and a list otherwise.',
      ),
    )
    .action(async (directory: string, options: { into: string; as?: string; preset: string; wait: boolean }) => {
      const { importTree } = await import('./import.ts');
      const { formatImportReport, importSucceeded } = await import('./import-report.ts');
      const { openProgressBar } = await import('./progress-bar.ts');
      const { withOwnWorker } = await import('./own-worker.ts');
      const { actingUser } = await import('./acting-user.ts');
      const { loadConfig } = await import('../config.ts');
      const { into, preset, wait } = options;
      const report = await withServices((services) =>
        withOwnWorker(loadConfig().config, wait, programs, async () => {
          const actor = await actingUser(services, options.as);
          const bar = openProgressBar(terminal.interactive);
          try {
            return await importTree(services, actor, { directory, into, preset, wait }, bar.update);
          } finally {
            bar.stop();
          }
        }),
      );
      show(report, formatImportReport(report));
      if (!importSucceeded(report)) setExitCode(1);
    });
}
