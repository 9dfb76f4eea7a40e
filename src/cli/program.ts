/** The commands, their options and their help. What they do is in the files beside this one. */
import { Command, Option } from 'commander';
import { SingleBar } from 'cli-progress';
import { loadConfig } from '../config.ts';
import { actingUser } from './acting-user.ts';
import { exportAudit, formatVerdict, verifyAudit } from './audit.ts';
import { examine, formatChecks, isFit } from './doctor.ts';
import { formatImportReport, importSucceeded } from './import-report.ts';
import { importTree, type ImportProgress } from './import.ts';
import {
  connectHint,
  createKeyFor,
  formatKeys,
  listKeysFor,
  revokeKeyOf,
  rollKeyOf,
  type CreateKeyOptions,
} from './keys.ts';
import { withOwnWorker } from './own-worker.ts';
import { serve } from './serve.ts';
import type { Programs } from './services.ts';
import { readPassword, setup } from './setup.ts';
import { formatTable, type Terminal } from './terminal.ts';
import { work } from './worker.ts';
import type { LibraryDeps } from '../library/deps.ts';

export interface ProgramDeps {
  programs: Programs;
  terminal: Terminal;
  /** src/main.ts, for the worker that `serve` starts. */
  mainPath: string;
  version: string;
  /** Called with 1 when a command did what it could and the result is not good. */
  setExitCode(code: number): void;
}

export function buildProgram(deps: ProgramDeps): Command {
  const { terminal } = deps;
  const program = new Command('sergo')
    .description('A library of documents with governed doors for AI agents.')
    .version(deps.version)
    .option('--json', 'print results as JSON, for scripts')
    .showHelpAfterError('Add --help for what it takes.')
    .addHelpText('after', firstSteps);

  /** Prints a result in the form that was asked for. */
  const show = (result: unknown, text: string): void =>
    terminal.out(program.opts().json ? JSON.stringify(result) : text);

  const withServices = async <T>(action: (deps: LibraryDeps) => Promise<T>): Promise<T> => {
    const services = await deps.programs.openServices(loadConfig().config);
    try {
      return await action(services.deps);
    } finally {
      await services.close();
    }
  };

  program
    .command('serve')
    .description('run the server and one worker')
    .addHelpText(
      'after',
      example('SERGO_PORT=9000 sergo serve', 'Settings are environment variables: `sergo config show` lists them.'),
    )
    .action(() => serve(loadConfig().config, deps.mainPath, deps.programs, terminal));

  program
    .command('worker')
    .description('run a worker alone (serve has one already)')
    .addOption(new Option('--supervised', 'as a child of serve').hideHelp())
    .action((options: { supervised?: boolean }) =>
      work(loadConfig().config, options.supervised === true, deps.programs),
    );

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
    .action(async (options: { name: string; email: string; passwordFile: string }) => {
      const password = readPassword(options.passwordFile);
      const made = await withServices((services) =>
        setup(services, { name: options.name, email: options.email, password }),
      );
      terminal.out(JSON.stringify(made));
      terminal.note(`${options.name} is the admin now and can sign in as ${options.email}.`);
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
      const { config } = loadConfig();
      const report = await withServices((services) =>
        withOwnWorker(config, options.wait, deps.programs, async () => {
          const actor = await actingUser(services, options.as);
          const bar = progressBar(terminal);
          try {
            return await importTree(
              services,
              actor,
              { directory, into: options.into, preset: options.preset, wait: options.wait },
              bar.update,
            );
          } finally {
            bar.stop();
          }
        }),
      );
      show(report, formatImportReport(report));
      if (!importSucceeded(report)) deps.setExitCode(1);
    });

  addKeyCommands(program, withServices, show, terminal);

  const audit = program.command('audit').description('check and export the audit log');
  audit
    .command('verify')
    .description('walk the whole log and say whether any entry was changed, removed or put in')
    .option('--head <file>', 'what `sergo audit head` printed earlier: shows a cut end as well')
    .action(async (options: { head?: string }) => {
      const verdict = await withServices((services) => verifyAudit(services, options.head));
      show(verdict, formatVerdict(verdict));
      if (!verdict.ok) deps.setExitCode(1);
    });
  audit
    .command('head')
    .description('print number and hash of the last entry, to keep somewhere else')
    .addHelpText('after', example('sergo audit head > /media/other-disk/audit-head.json'))
    .action(async () => terminal.out(JSON.stringify(await withServices((services) => services.audit.head()))));
  audit
    .command('export')
    .description('write the whole log, oldest first')
    .addOption(new Option('--format <format>').choices(['jsonl', 'csv']).default('jsonl'))
    .option('--out <file>', 'a file, or - for stdout', '-')
    .action(async (options: { format: 'jsonl' | 'csv'; out: string }) => {
      await withServices((services) => exportAudit(services, options.format, options.out));
    });

  program
    .command('doctor')
    .description('say what is installed, what is missing and what that costs')
    .action(async () => {
      const checks = await examine(loadConfig().config);
      show(checks, formatChecks(checks));
      if (!isFit(checks)) deps.setExitCode(1);
    });

  program
    .command('config')
    .description('settings')
    .command('show')
    .description('every setting, its value and where that comes from')
    .action(() => {
      const { shown } = loadConfig();
      const rows = shown.map((row) => [row.name, row.value, row.source, row.about]);
      show(shown, formatTable([['SETTING', 'VALUE', 'FROM', 'ABOUT'], ...rows]));
    });

  return program;
}

function addKeyCommands(
  program: Command,
  withServices: <T>(action: (deps: LibraryDeps) => Promise<T>) => Promise<T>,
  show: (result: unknown, text: string) => void,
  terminal: Terminal,
): void {
  const collect = (value: string, before: string[]): string[] => [...before, value];
  const keys = program.command('keys').description('make, list, roll and revoke keys');
  keys
    .command('create')
    .description('make a key; it is shown this once')
    .requiredOption('--name <name>', 'for an agent key: 2 to 32 of a-z, 0-9 and -, starting with a letter')
    .option('--description <text>', 'what an agent finds behind it, in a sentence or two', '')
    .option('--folder <path>', 'a folder it reads, with all inside (again for more)', collect, [])
    .option('--document <id>', 'a single document it reads (again for more)', collect, [])
    .addOption(new Option('--kind <kind>').choices(['agent', 'personal']).default('agent'))
    .option('--as <email>', 'whose key it is (needed when there are several users)')
    .addHelpText(
      'after',
      example(
        'sergo keys create --name energy-outlooks --folder "Energy outlooks" \\\n    --description "Outlook decks of the EIA"',
      ),
    )
    .action(
      async (options: Omit<CreateKeyOptions, 'folders' | 'documentIds'> & { folder: string[]; document: string[] }) => {
        const made = await withServices((services) =>
          createKeyFor(services, { ...options, folders: options.folder, documentIds: options.document }),
        );
        const { config } = loadConfig();
        const address = config.publicUrl ?? `http://${config.host}:${config.port}`;
        show({ id: made.id, key: made.key, masked: made.masked }, made.key);
        if (!program.opts().json) terminal.note(`\nThe key above is shown this once.\n${connectHint(made, address)}`);
      },
    );
  keys
    .command('list')
    .description("everybody's keys, or one user's")
    .option('--as <email>', 'only the keys of this user')
    .action(async (options: { as?: string }) => {
      const list = await withServices((services) => listKeysFor(services, options.as));
      show(list, formatKeys(list));
    });
  keys
    .command('roll')
    .description('give a key a new value')
    .argument('<key>', 'its id or name')
    .addOption(
      new Option('--grace <time>', 'how long the old value goes on working')
        .choices(['now', '1h', '24h', '7d'])
        .default('24h'),
    )
    .action(async (key: string, options: { grace: 'now' | '1h' | '24h' | '7d' }) => {
      const rolled = await withServices((services) => rollKeyOf(services, key, options.grace));
      show(rolled, rolled.key);
      if (!program.opts().json)
        terminal.note(
          `The key above is shown this once. The old one works until ${new Date(rolled.oldValidUntil).toISOString()}.`,
        );
    });
  keys
    .command('revoke')
    .description('end a key; the next call with it is refused')
    .argument('<key>', 'its id or name')
    .action(async (key: string) => {
      const id = await withServices((services) => revokeKeyOf(services, key));
      show({ id, revoked: true }, `${key} is revoked.`);
    });
}

/** A bar on a terminal, nothing elsewhere: logs are for lines. */
function progressBar(terminal: Terminal): { update: ImportProgress; stop(): void } {
  if (!terminal.interactive) return { update: () => {}, stop: () => {} };
  const bar = new SingleBar({
    format: '{phase} [{bar}] {value}/{total} {name}',
    hideCursor: true,
    clearOnComplete: true,
  });
  let phase = '';
  return {
    update(nextPhase, done, total, name) {
      if (nextPhase !== phase) bar.start(total, done, { phase: nextPhase, name });
      else bar.update(done, { name });
      phase = nextPhase;
    },
    stop: () => bar.stop(),
  };
}

const example = (command: string, more = ''): string => `\nExample:\n  ${command}\n${more === '' ? '' : `\n${more}\n`}`;

const firstSteps = `
First steps:
  sergo serve                                             run it; it prints its address and a set-up token
  sergo setup --name "Ava Bennett" --email ava@example.com --password-file password.txt
  sergo import ~/outlooks --into "Energy outlooks"        bring files in
  sergo keys create --name energy-outlooks --folder "Energy outlooks" --description "Outlook decks of the EIA"
                                                          a key for an agent, and how to connect with it
  sergo doctor                                            what is missing on this machine, and what that costs

Exit codes: 0 done, 1 not done (the reason is on stderr), 2 the command line was wrong.
`;
