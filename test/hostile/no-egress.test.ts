/**
 * P22: files that name things elsewhere are read, converted and drawn, and not one packet is sent for it. Counted twice: by a listener on
 * the loopback address that all of them name, and in the network namespaces of the sandboxed programs. The control shows that both
 * counters count: the same files converted without the sandbox reach the listener.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstAdmin, type Admin, type Json } from '../support/api-client.ts';
import { networkOf, packetsOf, sandboxed } from '../support/process-watch.ts';
import { startSergo, type RunningSergo } from '../support/running-sergo.ts';
import { linkedFiles } from './linked-files.ts';
import { queueEmpty } from './run.ts';

const SOFFICE = '/usr/bin/soffice';
const folder = mkdtempSync(join(tmpdir(), 'sergo-linked-'));
let sergo: RunningSergo;
let admin: Admin;
let listener: Server;
let port: number;
let reached: string[] = [];

beforeAll(async () => {
  listener = createServer((socket) => {
    reached.push('a connection');
    socket.once('data', (bytes) => reached.push(/^\S+ (\S+)/.exec(bytes.toString('latin1'))?.[1] ?? '?'));
    socket.on('error', () => undefined);
    setTimeout(() => socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'), 20);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  port = (listener.address() as { port: number }).port;
  sergo = await startSergo({ env: { SERGO_RATE_SIGNED_IN: '1000000' } });
  admin = await firstAdmin(sergo);
});
afterAll(async () => {
  await sergo.stop();
  listener.close();
  rmSync(folder, { recursive: true, force: true });
});

test('nothing that is read, converted or drawn sends a packet', { timeout: 300_000 }, async (context) => {
  const ready = (await (await fetch(`${sergo.url}/readyz`)).json()) as Json;
  if (ready.checks.sandbox.detail !== 'bubblewrap') {
    console.warn('SKIPPED: counting packets. bubblewrap does not work here, so programs that read files share the network.');
    context.skip();
  }
  // Every namespace that is not ours, and the most packets ever seen in it.
  const packets = new Map<string, number>();
  const ours = networkOf(process.pid);
  const looking = setInterval(() => {
    for (const { pid } of sandboxed(sergo.pid)) {
      const network = networkOf(pid);
      if (network !== '' && network !== ours) packets.set(network, Math.max(packets.get(network) ?? 0, packetsOf(pid)));
    }
  }, 25);
  reached = [];
  const files = linkedFiles(`http://127.0.0.1:${port}`);
  const { status, body } = await admin.api.upload(admin.folderId, files);
  expect(status).toBe(202);
  await queueEmpty(admin.api, 240_000);
  const ends = new Map<string, Json>();
  let drawn = 0;
  for (const { id, name } of body.documents as Json[]) {
    const { body: document } = await admin.api.get(`/documents/${id}`);
    ends.set(name, document);
    if (document.pdfCopy === 'ready' || document.type === 'pdf') {
      expect((await admin.api.raw(`/documents/${id}/pages/1.png`)).status).toBe(200);
      drawn += 1;
    }
  }
  clearInterval(looking);
  for (const [name, document] of ends) expect([name, document.status]).toEqual([name, name === 'xxe.docx' ? 'not_indexed' : 'ready']);
  expect(packets.size).toBeGreaterThan(2);
  expect(reached).toEqual([]);
  expect([...packets.values()].filter((count) => count > 0)).toEqual([]);
  console.log(`P22: ${ends.size} files with links read, ${drawn} of them converted and drawn: 0 connections, 0 packets in ${packets.size} network namespaces`);
});

/** Starts a listener of its own and converts the files beside it; answers what reached it and the packets of its namespace. */
const CONTROL = `
const { createServer } = require('node:http');
const { spawn } = require('node:child_process');
const { readFileSync } = require('node:fs');
const [port, profile, out, ...files] = process.argv.slice(1);
const reached = new Set();
const server = createServer((request, answer) => { reached.add(request.url); answer.statusCode = 404; answer.end(); }).listen(Number(port), '127.0.0.1', () => {
  const office = spawn('${SOFFICE}', ['-env:UserInstallation=file://' + profile, '--headless', '--convert-to', 'pdf', '--outdir', out, ...files], { stdio: 'ignore' });
  office.on('exit', () => {
    const packets = readFileSync('/proc/self/net/dev', 'utf8').split('\\n').slice(2).reduce((sum, line) => { const f = line.replace(/^[^:]*:/, '').trim().split(/\\s+/).map(Number); return f.length < 10 ? sum : sum + f[1] + f[9]; }, 0);
    console.log(JSON.stringify({ reached: [...reached], packets }));
    process.exit(0);
  });
});`;

test('the control: without the sandbox the same files reach the listener, and the counter of packets counts', { timeout: 300_000 }, async (context) => {
  if (!existsSync(SOFFICE) || !existsSync('/usr/bin/bwrap')) {
    console.warn('SKIPPED: the control of P22. LibreOffice or bubblewrap is missing.');
    context.skip();
  }
  const inside = 18_999;
  const names = ['linked.docx', 'linked.odt', 'linked.html'];
  const files = linkedFiles(`http://127.0.0.1:${inside}`);
  for (const name of names) writeFileSync(join(folder, name), files[name]!);
  mkdirSync(join(folder, 'out'));
  // A network namespace of its own, so that the packets in it are those of this conversion; nothing else is kept from it.
  const control = spawn('/usr/bin/bwrap', ['--dev-bind', '/', '/', '--unshare-net', process.execPath, '-e', CONTROL, String(inside), join(folder, 'profile'), join(folder, 'out'), ...names.map((name) => join(folder, name))]);
  let output = '';
  let complaint = '';
  control.stdout.on('data', (text: Buffer) => (output += text.toString()));
  control.stderr.on('data', (text: Buffer) => (complaint += text.toString()));
  const [code] = (await once(control, 'exit')) as [number];
  if (code !== 0 && /bwrap|namespace|permitted/i.test(complaint)) {
    console.warn(`SKIPPED: the control of P22. ${complaint.trim()}`);
    context.skip();
  }
  const seen = JSON.parse(output) as { reached: string[]; packets: number };
  console.log(`P22 control: without the sandbox's rules LibreOffice asked for ${seen.reached.length} addresses (${seen.reached.join(', ')}), ${seen.packets} packets`);
  expect(seen.reached.length).toBeGreaterThan(0);
  expect(seen.packets).toBeGreaterThan(0);
});
