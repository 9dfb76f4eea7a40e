import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createSandbox } from './sandbox.ts';
import { ChildDied, LimitHit, type Sandbox, type SandboxMode, type ToolSpec } from './types.ts';
import { sweptPrefix } from './workspace.ts';

vi.setConfig({ testTimeout: 120_000 });

const MB = 1024 ** 2;
const python = '/usr/bin/python3';
const sh = '/usr/bin/sh';

let server: Server;
let port = 0;
let connections = 0;
const base = mkdtempSync(join(tmpdir(), 'sergo-sandbox-test-'));
chmodSync(base, 0o755);

beforeAll(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket.end('hello');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(() => {
  server.close();
  rmSync(base, { recursive: true, force: true });
});

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

/** Processes whose command line holds the word; the word is unique to a test. */
function processesWith(word: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const state = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1];
      return state?.startsWith('Z') === false && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(word);
    } catch {
      return false;
    }
  });
}

const connecting = (): ToolSpec => ({
  command: python,
  args: ['-c', `import socket; print(socket.create_connection(("127.0.0.1", ${port}), 3).recv(5).decode())`],
});

const modes: SandboxMode[] = ['bubblewrap', 'limits-only'];
for (const mode of modes) {
  describe(mode, () => {
    let sandbox: Sandbox | undefined;
    beforeAll(async () => {
      try {
        sandbox = await createSandbox({ mode, tempDir: base });
      } catch (error) {
        console.warn(`SKIPPED: ${String(error)}`);
      }
    });
    const when = (name: string, run: (s: Sandbox) => Promise<void>): void => {
      test(name, async (context) => {
        if (sandbox === undefined) return context.skip();
        await run(sandbox);
        expect(readdirSync(base).filter((entry) => entry.startsWith('sergo-sandbox-'))).toEqual([]);
      });
    };

    when('says what it is', async (s) => expect(s.mode).toBe(mode));

    when('hands files in and collects files, but no links', async (s) => {
      const secret = join(base, 'secret.txt');
      writeFileSync(secret, 'of the server');
      const result = await s.runTool({
        command: sh,
        args: ['-c', `cat {in}/a.txt {in}/b.txt > {out}/sum.txt; ln -s ${secret} {out}/link; mkdir {out}/d; printf done`],
        files: [
          { name: 'a.txt', bytes: Buffer.from('one ') },
          { name: 'b.txt', path: secret },
        ],
        outputs: true,
      });
      expect([result.code, text(result.stdout)]).toEqual([0, 'done']);
      expect(result.outputs.map((o) => [o.name, text(o.bytes)])).toEqual([['sum.txt', 'one of the server']]);
    });

    when('shows outputs as they are on disk, so that none is in memory whole', async (s) => {
      const seen: unknown[] = [];
      const spec = { command: sh, args: ['-c', 'printf long > {out}/a; ln -s /etc/passwd {out}/link; exit 3'] };
      const result = await s.runTool({ ...spec, outputs: async ({ name, bytes, file, code }) => void seen.push([name, bytes, await file.readFile('utf8'), code]) });
      expect([seen, result.outputs]).toEqual([[['a', 4, 'long', 3]], []]);
      await expect(s.runTool({ ...spec, outputs: () => Promise.reject(new Error('not kept')) })).rejects.toThrow('not kept');
    });

    when('stops a memory runaway', async (s) => {
      const result = await s.runTool({
        command: python,
        args: ['-c', 'x = []\nwhile True: x.append(bytearray(8 << 20))'],
        limits: { memoryBytes: 200 * MB },
      });
      expect(result.killedBy).toBe('memory');
    });

    when('stops at the wall clock', async (s) => {
      const result = await s.runTool({ command: '/usr/bin/sleep', args: ['61234'], limits: { wallMs: 300 } });
      expect(result.killedBy).toBe('time');
      expect(processesWith('61234')).toEqual([]);
    });

    when('stops at the CPU limit', async (s) => {
      const result = await s.runTool({ command: sh, args: ['-c', 'while :; do :; done'], limits: { cpuMs: 400 } });
      expect(result.killedBy).toBe('time');
    });

    when('cuts endless output', async (s) => {
      const result = await s.runTool({ command: '/usr/bin/yes', args: [], limits: { stdoutBytes: MB } });
      expect(result.killedBy).toBe('output');
      expect(result.stdout.byteLength).toBeLessThanOrEqual(MB);
    });

    when('stops a file that grows over its limit, and many that do together', async (s) => {
      const limits = { fileBytes: 2 * MB };
      const one = await s.runTool({ command: '/usr/bin/dd', args: ['if=/dev/zero', 'of={out}/big', 'bs=1M', 'count=64'], outputs: true, limits });
      expect(one.killedBy).toBe('output');
      const script = 'i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > {out}/f$i; sleep 0.05; done';
      const many = await s.runTool({ command: sh, args: ['-c', script], outputs: true, limits });
      expect(many.killedBy).toBe('output');
    });

    when('cancels', async (s) => {
      const abort = new AbortController();
      setTimeout(() => abort.abort(), 100);
      const running = s.runTool({ command: '/usr/bin/sleep', args: ['61235'], signal: abort.signal });
      expect((await running).killedBy).toBe('cancel');
      expect(processesWith('61235')).toEqual([]);
    });

    when('takes a grandchild along that left the session', async (s) => {
      // The parent ends at once; the daemon holds the pipe and has forked twice.
      const result = await s.runTool({ command: sh, args: ['-c', '(setsid sleep 61236 &) ; sleep 0.2; echo over'] });
      expect([result.code, text(result.stdout)]).toEqual([0, 'over\n']);
      await expect.poll(() => processesWith('61236')).toEqual([]);
    });

    when('reports a program that is not there', async (s) => {
      const result = await s.runTool({ command: '/usr/bin/no-such-program', args: [] });
      expect(result.code).not.toBe(0);
    });

    const echo = `
import sys, struct, json, time, os
o, i = sys.stdout.buffer, sys.stdin.buffer
def say(h, p=b''):
    j = json.dumps(h).encode(); o.write(struct.pack('>II', len(j), len(p)) + j + p); o.flush()
say({'kind': 'ready'})
while True:
    a = i.read(8)
    if len(a) < 8: break
    n, m = struct.unpack('>II', a)
    h, p = json.loads(i.read(n)), i.read(m)
    op = h['op']
    if op == 'eat':
        x = []
        while True: x.append(bytearray(8 << 20))
    if op == 'spin':
        while True: pass
    if op == 'sleep': time.sleep(100)
    if op == 'exit': os._exit(3)
    if op == 'noise': o.write(b'not a frame at all, but long enough'); o.flush(); time.sleep(100)
    if op == 'flood':
        for n in range(12):
            say({'kind': 'part', 'ms': time.monotonic() * 1000}, bytes(1 << 20))
        say({'kind': 'done'}); continue
    if op == 'fd': say({'kind': 'done', 'text': os.pread(3, 100, 0).decode()}); continue
    say({'kind': 'part', 'n': 1}); say({'kind': 'part', 'n': 2}); say({'kind': 'done', 'uid': os.getuid()}, p[::-1])
`;
    const start = (s: Sandbox, more: { limits?: { memoryBytes?: number; cpuMs?: number }; descriptors?: number[] } = {}) =>
      s.startChild({ command: python, args: ['-c', echo], ...more });

    when('a warm child answers again and again, from memory and from a file', async (s) => {
      const child = await start(s);
      try {
        const parts: unknown[] = [];
        const first = await child.request({ op: 'x' }, Buffer.from('abc'), { onPart: (f) => void parts.push(f.header['n']) });
        expect([text(first.payload), parts]).toEqual(['cba', [1, 2]]);
        const path = join(base, 'long.bin');
        writeFileSync(path, Buffer.alloc(3 * MB, 7));
        const second = await child.request({ op: 'x' }, { path, bytes: 3 * MB });
        expect(second.payload.byteLength).toBe(3 * MB);
        expect(child.served).toBe(2);
        if (mode === 'bubblewrap' && process.getuid?.() === 0) expect(second.header['uid']).toBe(65534);
      } finally {
        await child.stop();
      }
      expect(child.alive).toBe(false);
    });

    when('a child waits while its last word is being taken, and that time is not counted against it', async (s) => {
      const child = await start(s);
      try {
        const written: number[] = [];
        let open = 0;
        await child.request({ op: 'flood' }, undefined, {
          // Less than the taking takes; more than the child needs on a busy machine.
          wallMs: 1_000,
          async onPart({ header }) {
            expect(open++).toBe(0);
            written.push(Number(header['ms']));
            await new Promise((resolve) => setTimeout(resolve, 100));
            open--;
          },
        });
        expect(written).toHaveLength(12);
        // The pipe holds less than one of these parts: each but the first two was written only after another had been taken.
        expect(written.at(-1)! - written[0]!).toBeGreaterThan(8 * 100);
        expect(await child.request({ op: 'x' }, Buffer.from('on'))).toMatchObject({ header: { kind: 'done' } });
      } finally {
        await child.stop();
      }
    });

    for (const [how, fail] of [
      ['throws', () => { throw new Error('the disk is full'); }],
      ['rejects', () => Promise.reject(new Error('the disk is full'))],
    ] as const) {
      when(`what ${how} while a part is taken ends the request, and nothing else`, async (s) => {
        const child = await start(s);
        await expect(child.request({ op: 'flood' }, undefined, { onPart: fail })).rejects.toThrow('the disk is full');
        await child.stop();
        expect(child.alive).toBe(false);
      });
    }

    const ends: [string, string, { wallMs?: number; cpuMs?: number }, string][] = [
      ['memory', 'eat', {}, 'memory'],
      ['CPU', 'spin', { cpuMs: 300 }, 'time'],
      ['wall clock', 'sleep', { wallMs: 300 }, 'time'],
      ['speech', 'noise', {}, 'output'],
    ];
    for (const [what, op, options, killedBy] of ends) {
      when(`a warm child is ended by its limit on ${what}`, async (s) => {
        const child = await start(s, { limits: { memoryBytes: 200 * MB } });
        const error = await child.request({ op }, undefined, options).catch((e: unknown) => e);
        expect(error).toBeInstanceOf(LimitHit);
        expect((error as LimitHit).killedBy).toBe(killedBy);
        expect(child.alive).toBe(false);
      });
    }

    when('a warm child that dies says so, and takes no more', async (s) => {
      const child = await start(s);
      await expect(child.request({ op: 'exit' })).rejects.toBeInstanceOf(ChildDied);
      await expect(child.request({ op: 'x' })).rejects.toBeInstanceOf(ChildDied);
    });

    when('a child that never gets ready is ended', async (s) => {
      const starting = s.startChild({ command: '/usr/bin/sleep', args: ['61237'], startMs: 300 });
      await expect(starting).rejects.toBeInstanceOf(LimitHit);
      expect(processesWith('61237')).toEqual([]);
    });
  });
}

describe('what bubblewrap adds', () => {
  let sandbox: Sandbox | undefined;
  beforeAll(async () => {
    sandbox = await createSandbox({ mode: 'bubblewrap', tempDir: base }).catch(() => undefined);
    if (sandbox === undefined) console.warn('SKIPPED: bubblewrap does not work here');
  });

  test('no network: the control outside connects, the same program inside does not', async (context) => {
    if (sandbox === undefined) return context.skip();
    const control = await (await createSandbox({ mode: 'limits-only', tempDir: base })).runTool(connecting());
    expect(text(control.stdout)).toBe('hello\n');
    const before = connections;
    const inside = await sandbox.runTool(connecting());
    expect(inside.code).not.toBe(0);
    expect(connections).toBe(before);
  });

  test('no data folder, no /etc, no environment of ours', async (context) => {
    if (sandbox === undefined) return context.skip();
    const data = join(base, 'blob');
    writeFileSync(data, 'canary', { mode: 0o600 });
    process.env['SERGO_CANARY'] = 'canary';
    const script = `cat ${data}; cat /etc/passwd; env; ls /; cat /proc/1/environ`;
    const result = await sandbox.runTool({ command: sh, args: ['-c', script] });
    delete process.env['SERGO_CANARY'];
    expect(text(result.stdout)).not.toContain('canary');
    expect(text(result.stdout)).not.toContain('root:');
    expect(result.stderr).toContain('/etc/passwd');
    expect(existsSync(data)).toBe(true);
  });

  test('a private file shown as input is readable there and nowhere else', async (context) => {
    if (sandbox === undefined) return context.skip();
    const path = join(base, 'private.pdf');
    writeFileSync(path, 'for this tool', { mode: 0o600 });
    const result = await sandbox.runTool({ command: '/usr/bin/cat', args: ['{in}/it'], files: [{ name: 'it', path }] });
    expect(text(result.stdout)).toBe('for this tool');
  });

  test('a file of root with mode 0600 stays closed, even where it is bound', async (context) => {
    if (sandbox === undefined || process.getuid?.() !== 0) return context.skip();
    const path = join(base, 'root-only');
    writeFileSync(path, 'canary', { mode: 0o600 });
    const result = await sandbox.runTool({ command: '/usr/bin/cat', args: [path], binds: [path] });
    expect(result.code).not.toBe(0);
    expect(text(result.stdout)).toBe('');
  });

  test('a program that lies under /tmp runs: Sergo itself may be installed there', async (context) => {
    if (sandbox === undefined) return context.skip();
    const folder = mkdtempSync('/tmp/sergo-installed-');
    chmodSync(folder, 0o755);
    const program = join(folder, 'program');
    writeFileSync(program, '#!/usr/bin/sh\necho runs\n', { mode: 0o755 });
    const result = await sandbox.runTool({ command: program, args: [], binds: [program] });
    rmSync(folder, { recursive: true });
    expect([text(result.stdout), result.stderr]).toEqual(['runs\n', '']);
  });

  test('nothing may be written but /tmp, which has an end, and no namespace made', async (context) => {
    if (sandbox === undefined) return context.skip();
    const result = await sandbox.runTool({
      command: sh,
      args: ['-c', 'touch /a /usr/b /dev/c /in/d; head -c 9000000 /dev/zero > /tmp/e; unshare -U true && echo made; grep CapEff /proc/self/status'],
      limits: { tmpBytes: 4 * MB },
    });
    expect(text(result.stdout)).toBe('CapEff:\t0000000000000000\n');
    expect(result.stderr).toContain('No space left');
  });
});

test('folders of a dead server are swept at the start', async () => {
  const dead = join(base, 'sergo-sandbox-999999999-abc');
  const { mkdirSync } = await import('node:fs');
  mkdirSync(dead);
  await createSandbox({ mode: 'limits-only', tempDir: base });
  expect(existsSync(dead)).toBe(false);
});

test('a folder of a dead server is swept when another process has its number by now, one of a living server is not', async () => {
  const { mkdirSync } = await import('node:fs');
  const reused = join(base, `sergo-sandbox-${process.pid}-1-abc`);
  const living = join(base, `${sweptPrefix()}abc`);
  const before = join(base, `sergo-sandbox-${process.pid}-abc`);
  for (const folder of [reused, living, before]) mkdirSync(folder);
  await createSandbox({ mode: 'limits-only', tempDir: base });
  expect([reused, living, before].map((folder) => existsSync(folder))).toEqual([false, true, true]);
  for (const folder of [living, before]) rmSync(folder, { recursive: true });
});
