import { fill, type Surroundings } from './surroundings.ts';
import { launch } from './launch.ts';
import { eachOutput, makeWorkspace, measureFolder } from './workspace.ts';
import { DEFAULT_LIMITS, type KilledBy, type Limits, type ToolResult, type ToolSpec } from './types.ts';

/** Runs a one-shot program on files of its own. Never throws for what the program does; throws when it cannot be started. */
export async function runTool(around: Surroundings, spec: ToolSpec): Promise<ToolResult> {
  const limits: Limits = { ...DEFAULT_LIMITS, ...spec.limits };
  const bindable = around.mode === 'bubblewrap';
  if (spec.signal?.aborted === true) {
    return { code: null, stdout: new Uint8Array(), stderr: '', outputs: [], killedBy: 'cancel' };
  }
  const workspace = await makeWorkspace(around.tempBase, around.asRoot, bindable, spec.files ?? []);
  try {
    const seen = bindable
      ? { in: '/in', out: '/out', tmp: '/tmp' }
      : { in: workspace.inDir, out: workspace.outDir, tmp: workspace.tmpDir };
    const run = await launch(
      {
        mode: around.mode,
        asRoot: around.asRoot,
        limits,
        command: spec.command,
        args: fill(spec.args, seen),
        env: { PATH: '/usr/bin', HOME: seen.tmp, TMPDIR: seen.tmp, LANG: 'C.UTF-8', ...spec.env },
        binds: spec.binds ?? [],
        inDir: workspace.inDir,
        inFiles: workspace.bound,
        ...(spec.outputs ? { outDir: workspace.outDir } : {}),
      },
      workspace.tmpDir,
    );
    let killedBy: KilledBy | undefined;
    const chunks: Buffer[] = [];
    let bytes = 0;
    run.watchdog.start(
      {
        ...limits,
        signal: spec.signal,
        ...(spec.outputs ? { folderSize: () => measureFolder(workspace.outDir), folderBytes: limits.fileBytes } : {}),
      },
      (why) => (killedBy ??= why),
    );
    run.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= limits.stdoutBytes) chunks.push(chunk);
      else if (killedBy === undefined) {
        killedBy = 'output';
        run.watchdog.killAll();
      }
    });
    run.stdin.end();
    const { code, signal } = await run.exited;
    killedBy ??= killedByKernel(code, signal);
    const outputs: ToolResult['outputs'] = [];
    const { outputs: wanted } = spec;
    if (wanted && killedBy === undefined) {
      const tooMuch = await eachOutput(workspace.outDir, limits.fileBytes, async (name, size, file) => {
        if (typeof wanted === 'function') await wanted({ name, bytes: size, file, code });
        else outputs.push({ name, bytes: await file.readFile() });
      });
      if (tooMuch) killedBy = 'output';
    }
    return { code, stdout: Buffer.concat(chunks), stderr: run.stderr(), outputs: killedBy ? [] : outputs, ...(killedBy ? { killedBy } : {}) };
  } finally {
    await workspace.remove();
  }
}

/** `prlimit`'s limits end a program by signal; bubblewrap turns that into 128 + n. SIGXCPU 24, SIGXFSZ 25. */
function killedByKernel(code: number | null, signal: NodeJS.Signals | null): KilledBy | undefined {
  if (signal === 'SIGXCPU' || code === 128 + 24) return 'time';
  if (signal === 'SIGXFSZ' || code === 128 + 25) return 'output';
  return undefined;
}
