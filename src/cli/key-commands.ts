import { Option, type Command } from 'commander';
import type { Grace } from '../access/keys.ts';
import { example, type CommandContext } from './command-context.ts';

interface CreateOptions {
  kind: 'agent' | 'personal';
  name: string;
  description: string;
  folder: string[];
  document: string[];
  as?: string;
}

export function addKeyCommands(program: Command, { terminal, asJson, show, withServices }: CommandContext): void {
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
    .action(async (options: CreateOptions) => {
      const { connectHint, createKeyFor } = await import('./keys.ts');
      const { loadConfig } = await import('../config.ts');
      const { config } = loadConfig();
      const made = await withServices((services) =>
        createKeyFor(services, { ...options, folders: options.folder, documentIds: options.document }),
      );
      show({ id: made.id, key: made.key, masked: made.masked }, made.key);
      if (asJson()) return;
      const address = config.publicUrl ?? `http://${config.host}:${config.port}`;
      terminal.note(`\nThe key above is shown this once.\n${connectHint(made, address)}`);
    });

  keys
    .command('list')
    .description("everybody's keys, or one user's")
    .option('--as <email>', 'only the keys of this user')
    .action(async (options: { as?: string }) => {
      const { formatKeys, listKeysFor } = await import('./keys.ts');
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
    .action(async (key: string, options: { grace: Grace }) => {
      const { rollKeyOf } = await import('./keys.ts');
      const rolled = await withServices((services) => rollKeyOf(services, key, options.grace));
      show(rolled, rolled.key);
      if (asJson()) return;
      terminal.note(
        `The key above is shown this once. The old one works until ${new Date(rolled.oldValidUntil).toISOString()}.`,
      );
    });

  keys
    .command('revoke')
    .description('end a key; the next call with it is refused')
    .argument('<key>', 'its id or name')
    .action(async (key: string) => {
      const { revokeKeyOf } = await import('./keys.ts');
      const id = await withServices((services) => revokeKeyOf(services, key));
      show({ id, revoked: true }, `${key} is revoked.`);
    });
}
