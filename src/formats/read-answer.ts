import { z } from 'zod';
import type { ReadPage, ReadResult } from './types.ts';
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
const rest = z.object({
  type: z.string().max(20),
  pagesEstimated: z.boolean(),
  title: z.string().max(1_000).optional(),
  notices: z.array(z.string().max(2_000)).max(1_000).optional(),
});

export interface AnswerTakers {
  onProgress?: (done: number, total: number) => void;
  onAttachment?: (attachment: { name: string; bytes: Uint8Array }) => void;
}

/** Attachments kept in memory when nobody takes them one by one. */
const mostHeldBytes = 256 * 1024 ** 2;

/** Collects the parts of one reading; throws when they are not what the protocol of read-child.ts says. */
export function createAnswer({ onProgress, onAttachment }: AnswerTakers): { add(frame: Frame): void; finish(frame: Frame): ReadResult } {
  const collected: ReadPage[] = [];
  const attachments: { name: string; bytes: Uint8Array }[] = [];
  let heldBytes = 0;
  let leftOut = 0;
  const takeAttachment = (name: string, payload: Uint8Array): void => {
    const attachment = { name, bytes: Uint8Array.from(payload) };
    if (onAttachment) return onAttachment(attachment);
    heldBytes += payload.byteLength;
    if (heldBytes > mostHeldBytes) leftOut++;
    else attachments.push(attachment);
  };
  return {
    add: ({ header, payload }) => {
      if (header['what'] === 'progress') onProgress?.(Number(header['done']) || 0, Number(header['total']) || 0);
      else if (header['what'] === 'attachment') takeAttachment(String(header['name']), payload);
      else for (const one of pages.parse(parse(payload))) collected.push(one);
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
