import { z } from 'zod';
import { UnreadableFile, type ReadPage, type ReadResult } from './types.ts';
import type { Frame } from '../sandbox/index.ts';

/** What a reading child answers is checked like any input: the file it read may have taken it over. */

const page = z.object({
  number: z.int().min(1),
  text: z.string(),
  fate: z.enum(['text', 'ocr', 'image_only', 'garbled', 'empty', 'failed']),
  toView: z.boolean(),
  width: z.number().optional(),
  height: z.number().optional(),
  sections: z.array(z.object({ start: z.int().min(0), title: z.string() })).optional(),
  notes: z.string().optional(),
  hidden: z.string().optional(),
});
const pages = z.array(page);
const attachmentEnd = z.enum(['more', 'whole', 'damaged']);
const rest = z.object({
  type: z.string().max(20),
  pagesEstimated: z.boolean(),
  title: z.string().max(1_000).optional(),
  notices: z.array(z.string().max(2_000)).max(1_000).optional(),
});

/** Takes one file that is inside another as it comes. While a promise is open nothing more is unpacked. */
export interface AttachmentTaker {
  write(piece: Uint8Array): void | Promise<void>;
  /** Not `whole`: the rest of it is damaged, so what came of it counts for nothing. */
  end(whole: boolean): void | Promise<void>;
}

export interface AnswerTakers {
  onProgress?: (done: number, total: number) => void;
  /** Called once for each file inside, in order and one at a time; `inline` says that it is a picture of the mail's own page. */
  onAttachment?: (name: string, inline: boolean) => AttachmentTaker;
}

/** Attachments kept in memory when nobody takes them one by one. */
const mostHeldBytes = 256 * 1024 ** 2;
/** Text of one document: more is no document but a database, and the worker would hold all of it. */
export const mostText = 64 * 1024 ** 2;

export const tooMuchText = (): UnreadableFile =>
  new UnreadableFile('Too large to read: it holds more than 64 MiB of text — split it and upload the parts');

/** Collects the parts of one reading; throws when they are not what the protocol of read-child.ts says. */
export function createAnswer({ onProgress, onAttachment }: AnswerTakers): { add(frame: Frame): void | Promise<void>; finish(frame: Frame): ReadResult } {
  const collected: ReadPage[] = [];
  const attachments: { name: string; bytes: Uint8Array }[] = [];
  let leftOut = 0;
  let text = 0;
  let heldBytes = 0;
  /** Keeps what nobody takes, while there is room. */
  const keep = (name: string): AttachmentTaker => {
    const pieces: Uint8Array[] = [];
    let left = false;
    return {
      write(piece) {
        heldBytes += piece.byteLength;
        left ||= heldBytes > mostHeldBytes;
        if (!left) pieces.push(Uint8Array.from(piece));
      },
      end(whole) {
        if (left) leftOut++;
        else if (whole) attachments.push({ name, bytes: Uint8Array.from(Buffer.concat(pieces)) });
      },
    };
  };
  let open: AttachmentTaker | undefined;
  const takeAttachment = async ({ header, payload }: Frame): Promise<void> => {
    const end = attachmentEnd.parse(header['end']);
    open ??= (onAttachment ?? keep)(String(header['name']), header['inline'] === true);
    const taker = open;
    if (end !== 'more') open = undefined;
    if (payload.byteLength > 0) await taker.write(payload);
    if (end !== 'more') await taker.end(end === 'whole');
  };
  const takePages = (payload: Uint8Array): void => {
    for (const one of pages.parse(parse(payload))) {
      text += one.text.length + (one.notes?.length ?? 0) + (one.hidden?.length ?? 0);
      if (text > mostText) throw tooMuchText();
      collected.push(one);
    }
  };
  return {
    add: (frame) => {
      const { header, payload } = frame;
      if (header['what'] === 'attachment') return takeAttachment(frame);
      if (header['what'] === 'progress') onProgress?.(Number(header['done']) || 0, Number(header['total']) || 0);
      else takePages(payload);
    },
    finish: ({ payload }) => {
      if (collected.some(({ number }, index) => number !== index + 1)) throw new Error('A reading lost a page');
      const result: ReadResult = { ...rest.parse(parse(payload)), pages: collected };
      if (attachments.length > 0) result.attachments = attachments;
      if (leftOut > 0) result.notices = [...(result.notices ?? []), `${leftOut} of the files inside were left out: together they are larger than 256 MiB`];
      return result;
    },
  };
}

const parse = (payload: Uint8Array): unknown => JSON.parse(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('utf8'));
