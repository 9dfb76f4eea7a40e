/**
 * Runs inside the sandbox: takes one file after another over stdin and answers what it is and what it says. It imports only
 * format modules, so that a hostile file meets nothing worth having.
 *
 * Requests (header, payload): `{what: 'sniff', name}` + the file → done `{type}`; `{what: 'read', type, as, name,
 * maxPages, maxUnpackedBytes}` + the file → parts `{what: 'progress', done, total}`, `{what: 'pages'}` + JSON of some pages, `{what:
 * 'attachment', name, inline, end}` + one piece of it (`end`: `more` comes, it is `whole`, or it is `damaged` and nothing), then done + JSON
 * of the rest. What is wrong with the file is `error {reason}`.
 */
import { writeSync } from 'node:fs';
import { formats, readFormat, sniff } from './index.ts';
import { type Attachment, DamagedPart, UnreadableFile } from './types.ts';

const textPerPart = 2_000_000;
const pieceBytes = 1024 ** 2;

function send(header: object, payload: Uint8Array = new Uint8Array()): void {
  const json = Buffer.from(JSON.stringify(header), 'utf8');
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32BE(json.length, 0);
  prefix.writeUInt32BE(payload.byteLength, 4);
  for (const piece of [prefix, json, payload]) {
    for (let at = 0; at < piece.byteLength; ) {
      try {
        at += writeSync(1, piece, at);
      } catch (error) {
        // A full pipe: the parent will take it. There is nothing else to do meanwhile.
        if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
      }
    }
  }
}

const toJson = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value), 'utf8');

async function answer(header: Record<string, unknown>, payload: Uint8Array): Promise<void> {
  const name = String(header['name'] ?? '');
  if (header['what'] === 'sniff') {
    send({ kind: 'done', type: sniff(payload.subarray(0, 65_536), name, payload) });
    return;
  }
  const type = String(header['type']);
  if (!formats.has(type)) throw new Error(`no format ${type}`);
  let lastMs = 0;
  // An old kind was converted to one that is read here: it keeps its own name for what it is.
  const as = String(header['as'] ?? type);
  const result = await readFormat(type, payload, {
    as,
    name,
    maxPages: Number(header['maxPages']),
    maxUnpackedBytes: Number(header['maxUnpackedBytes']),
    ...(Array.isArray(header['availableFonts']) && { availableFonts: header['availableFonts'].map(String) }),
    onProgress: (done, total) => {
      const now = performance.now();
      if (now - lastMs < 100) return;
      lastMs = now;
      send({ kind: 'part', what: 'progress', done, total });
    },
  });
  const { pages, attachments = [], ...rest } = result;
  for (let at = 0; at < pages.length; ) {
    const start = at;
    for (let size = 0; at < pages.length && (at === start || size < textPerPart); at++) size += pages[at]!.text.length + 200;
    send({ kind: 'part', what: 'pages' }, toJson(pages.slice(start, at)));
  }
  const damaged = attachments.filter((attachment) => !sendAttachment(attachment)).length;
  if (damaged > 0 && damaged === attachments.length) throw new UnreadableFile('Damaged: none of the files in it can be unpacked — pack it again');
  if (damaged > 0) rest.notices = [...(rest.notices ?? []), `${damaged} of its files are damaged or packed in a way that is not read here, and were left out`];
  send({ kind: 'done' }, toJson(rest));
}

/** In pieces, so that neither side ever holds more of it; false when it turns out to be damaged. */
function sendAttachment(attachment: Attachment): boolean {
  const { name, inline = false } = attachment;
  const part = (end: 'more' | 'whole' | 'damaged', payload?: Uint8Array): void => send({ kind: 'part', what: 'attachment', name, inline, end }, payload);
  const held = Buffer.allocUnsafe(pieceBytes);
  let filled = 0;
  const take = (piece: Uint8Array): void => {
    for (let at = 0; at < piece.byteLength; ) {
      if (filled === pieceBytes) {
        part('more', held);
        filled = 0;
      }
      const count = Math.min(pieceBytes - filled, piece.byteLength - at);
      held.set(piece.subarray(at, at + count), filled);
      filled += count;
      at += count;
    }
  };
  try {
    if (attachment.stream) attachment.stream(take);
    else take(attachment.bytes);
  } catch (error) {
    if (!(error instanceof DamagedPart)) throw error;
    part('damaged');
    return false;
  }
  part('whole', held.subarray(0, filled));
  return true;
}

/** One buffer of the announced size is filled as the bytes come: the file is in memory once. */
async function serve(): Promise<void> {
  const prefix = Buffer.alloc(8);
  let target = prefix;
  let filled = 0;
  let header: Record<string, unknown> | undefined;
  let sizes: { header: number; payload: number } | undefined;
  const step = async (): Promise<void> => {
    if (!sizes) {
      sizes = { header: prefix.readUInt32BE(0), payload: prefix.readUInt32BE(4) };
      target = Buffer.alloc(sizes.header);
    } else if (!header) {
      header = JSON.parse(target.toString('utf8')) as Record<string, unknown>;
      target = Buffer.alloc(sizes.payload);
    } else {
      const request = header;
      const payload = target;
      header = undefined;
      sizes = undefined;
      target = prefix;
      try {
        await answer(request, payload);
      } catch (error) {
        if (error instanceof UnreadableFile) send({ kind: 'error', reason: error.reason });
        else send({ kind: 'error', message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
      }
    }
    filled = 0;
  };
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    let at = 0;
    for (;;) {
      const taken = chunk.copy(target, filled, at);
      filled += taken;
      at += taken;
      if (filled < target.length) break;
      await step();
    }
  }
}

send({ kind: 'ready' });
await serve();
