import { InvalidArgumentError, type Command } from 'commander';
import { example, type CommandContext } from './command-context.ts';
import type { AddJudgedOptions } from './judged.ts';

export function addSearchCommands(program: Command, { show, withServices, withSearch }: CommandContext): void {
  const whole = (value: string): number => {
    if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError('It is a whole number from 1.');
    return Number(value);
  };

  const search = program.command('search').description('look into what searches found');
  search
    .command('replay')
    .description('ask a search of the audit log again, as the key that asked: what it gets now, and why')
    .argument('<entry>', 'its number (`seq`) in the audit log', whole)
    .action(async (entry: number) => {
      const { formatReplay, replayEntry } = await import('./replay.ts');
      const replayed = await withSearch((opened) => replayEntry(opened, entry));
      show(replayed, formatReplay(replayed));
    });

  const judged = program.command('judged').description('pages that a query should find, and where they are');
  const asOption = ['--as <email>', 'whose they are (needed when there are several users)'] as const;
  judged
    .command('add')
    .description('this page should have been found')
    .requiredOption('--query <text>', 'as it was asked')
    .requiredOption('--document <id>', 'the document that should be found')
    .option('--page <number>', 'the page of it; left out: any', whole)
    .option('--grade <1-3>', '1 helps, 2 answers, 3 is the one', whole, 2)
    .option('--key <key>', 'search as this agent key (id or name)')
    .option('--folder <path>', 'search only this folder')
    .option(...asOption)
    .addHelpText('after', example('sergo judged add --query "coal capacity 2050" --document uBbFhbif --page 18 --key energy-outlooks'))
    .action(async (options: AddJudgedOptions) => {
      const { addJudged } = await import('./judged.ts');
      const saved = await withServices((services) => addJudged(services, options));
      show(saved, `${saved.id} is saved; \`sergo judged run\` says where that page is.`);
    });
  judged
    .command('list')
    .description('what is judged, and where it was in the last run')
    .option(...asOption)
    .action(async (options: { as?: string }) => {
      const { formatJudged, listJudged } = await import('./judged.ts');
      const list = await withServices((services) => listJudged(services, options.as));
      show(list, formatJudged(list));
    });
  judged
    .command('remove')
    .description('forget a judgement')
    .argument('<id>')
    .option(...asOption)
    .action(async (id: string, options: { as?: string }) => {
      const { removeJudged } = await import('./judged.ts');
      await withServices((services) => removeJudged(services, id, options.as));
      show({ id, removed: true }, `${id} is removed.`);
    });
  judged
    .command('run')
    .description('ask all judged queries again: rank of each page, nDCG@10, recall, and what changed since the last run')
    .option(...asOption)
    .action(async (options: { as?: string }) => {
      const { formatRun, runJudged } = await import('./judged.ts');
      const report = await withSearch((opened) => runJudged(opened, options.as));
      show(report, formatRun(report));
    });
}
