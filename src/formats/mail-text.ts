import { cleanText, paginate, type FlowBlock } from './flow.ts';
import { readHtmlBlocks } from './html-blocks.ts';
import { sensibleTitle } from './ooxml.ts';
import { blocksOfText } from './text.ts';
import type { Attachment, ReadOptions, ReadResult } from './types.ts';

/** What a mail says, from whichever format it came. */
export interface Mail {
  subject: string;
  /** `Ava Bennett <ava@example.org>`, already joined. */
  from: string;
  to: string;
  cc: string;
  date: string;
  text?: string;
  html?: string;
  attachments: Attachment[];
  notices?: string[];
}

/** Files beside a mail: more come from a program that went wrong. */
export const mostAttachments = 1_000;

export const leftOutNotice = (count: number): string[] =>
  count > 0 ? [`${count.toLocaleString('en-US')} of its attachments were left out: at most ${mostAttachments.toLocaleString('en-US')} are taken out of a mail`] : [];

/** Headers as lines, then the body; attachments are named here and handed on as files of their own. */
export function mailResult(type: string, mail: Mail, options: ReadOptions): ReadResult {
  const line = (name: string, value: string) => (value.trim() === '' ? [] : [`${name}: ${cleanText(value).replace(/\s+/g, ' ').trim()}`]);
  const subject = cleanText(mail.subject).replace(/\s+/g, ' ').trim();
  const head = [
    ...line('Subject', mail.subject),
    ...line('From', mail.from),
    ...line('To', mail.to),
    ...line('Cc', mail.cc),
    ...line('Date', mail.date),
    ...line('Attachments', mail.attachments.map(({ name }) => name).join(', ')),
  ].join('\n');
  const plain = mail.text?.trim() ? blocksOfText(cleanText(mail.text)) : [];
  // Many mails carry a stub of text ("view this in a browser") beside the real page.
  const rich = mail.html?.trim() ? readHtmlBlocks(mail.html).blocks : [];
  const lengthOf = (blocks: FlowBlock[]) => blocks.reduce((sum, block) => sum + block.text.length, 0);
  const body = lengthOf(rich) > lengthOf(plain) * 2 || plain.length === 0 ? rich : plain;
  // The pictures of the page are printed behind its text.
  if (body === plain && mail.attachments.some(({ inline }) => inline)) plain[plain.length - 1]!.figure = true;
  const blocks: FlowBlock[] = [{ text: head, ...(subject !== '' && { heading: subject }) }, ...body];
  const pages = paginate(blocks, { maxPages: options.maxPages });
  options.onProgress?.(pages.length, pages.length);
  return {
    type,
    pages,
    pagesEstimated: true,
    title: subject === '' ? undefined : sensibleTitle(subject),
    ...(mail.attachments.length > 0 && { attachments: mail.attachments }),
    ...(mail.notices && mail.notices.length > 0 && { notices: mail.notices }),
  };
}
