import type { Command } from 'commander';
import type { CommandContext } from './command-context.ts';
import { formatTable } from './terminal.ts';

export function addMachineCommands(program: Command, { show, setExitCode }: CommandContext): void {
  program
    .command('doctor')
    .description('say what is installed, what is missing and what that costs')
    .action(async () => {
      const [{ examine, formatChecks, isFit }, { loadConfig }] = await Promise.all([
        import('./doctor.ts'),
        import('../config.ts'),
      ]);
      const checks = await examine(loadConfig().config);
      show(checks, formatChecks(checks));
      if (!isFit(checks)) setExitCode(1);
    });

  program
    .command('config')
    .description('settings')
    .command('show')
    .description('every setting, its value and where that comes from')
    .action(async () => {
      const { loadConfig } = await import('../config.ts');
      const { shown } = loadConfig();
      const rows = shown.map((row) => [row.name, row.value, row.source, row.about]);
      show(shown, formatTable([['SETTING', 'VALUE', 'FROM', 'ABOUT'], ...rows]));
    });
}
