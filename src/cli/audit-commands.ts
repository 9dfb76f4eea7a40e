import { Option, type Command } from 'commander';
import { example, type CommandContext } from './command-context.ts';

export function addAuditCommands(
  program: Command,
  { terminal, show, withServices, setExitCode }: CommandContext,
): void {
  const audit = program.command('audit').description('check and export the audit log');

  audit
    .command('verify')
    .description('walk the whole log and say whether any entry was changed, removed or put in')
    .option('--head <file>', 'what `sergo audit head` printed earlier: shows a cut end as well')
    .action(async (options: { head?: string }) => {
      const { formatVerdict, verifyAudit } = await import('./audit.ts');
      const verdict = await withServices((services) => verifyAudit(services, options.head));
      show(verdict, formatVerdict(verdict));
      if (!verdict.ok) setExitCode(1);
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
      const { exportAudit } = await import('./audit.ts');
      await withServices((services) => exportAudit(services, options.format, options.out));
    });
}
