import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { supervise, WORKER_READY } from './supervisor.ts';

const node = (script: string) => () => spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
};

test('a child that ends is started again, waiting longer each time', async () => {
  const notes: string[] = [];
  let starts = 0;
  const child = node('process.exit(3)');
  const supervisor = supervise({
    start: () => (starts++, child()),
    note: (line) => notes.push(line),
    firstWaitMs: 5,
    longestWaitMs: 10,
  });
  await until(() => starts >= 4);
  await supervisor.stop(1000);
  const after = starts;
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(starts).toBe(after);
  expect(notes.slice(0, 3)).toEqual(
    [5, 10, 10].map((ms) => `The worker ended (exit code 3); starting it again in ${ms / 1000} s.`),
  );
});

test('a worker that was at work is started again without a growing wait: what ended it was a file', async () => {
  const notes: string[] = [];
  let child: ChildProcess;
  const supervisor = supervise({
    start: () => (child = spawn(process.execPath, ['-e', `process.send('${WORKER_READY}'); setInterval(() => {}, 1000)`], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })),
    note: (line) => notes.push(line),
    firstWaitMs: 5,
    longestWaitMs: 30_000,
    atWorkAfterMs: 0,
  });
  for (let deaths = 1; deaths <= 5; deaths++) {
    const dying = child!;
    await once(dying, 'message');
    await new Promise((resolve) => setTimeout(resolve, 5));
    dying.kill('SIGKILL');
    await until(() => child !== dying);
  }
  await supervisor.stop(1000);
  expect(notes).toEqual(Array.from({ length: 5 }, () => 'The worker ended (SIGKILL); starting it again in 0.005 s.'));
});

test('a child killed by a signal is started again', async () => {
  const pids: (number | undefined)[] = [];
  const supervisor = supervise({
    start() {
      const child = node('setInterval(() => {}, 1000)')();
      pids.push(child.pid);
      return child;
    },
    note: () => {},
    firstWaitMs: 5,
  });
  process.kill(pids[0]!, 'SIGKILL');
  await until(() => pids.length === 2);
  expect(supervisor.pid).toBe(pids[1]);
  await supervisor.stop(1000);
  expect(() => process.kill(pids[1]!, 0)).toThrow();
});

test('a child that does not listen to SIGTERM is killed', async () => {
  const child = spawn(process.execPath, [
    '-e',
    'process.on("SIGTERM", () => {}); console.log("up"); setInterval(() => {}, 1000)',
  ]);
  await new Promise((resolve) => child.stdout.once('data', resolve));
  await supervise({ start: () => child, note: () => {} }).stop(50);
  expect(child.signalCode).toBe('SIGKILL');
});
