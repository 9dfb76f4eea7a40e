import { isUtf8 } from 'node:buffer';
import PostalMime, { type Address, type Attachment as MimePart } from 'postal-mime';
import { decode, detectEncoding } from './encoding.ts';
import { contentIdOf, isIcon, shownPictures, type ShownPictures } from './mail-pictures.ts';
import { leftOutNotice, mailResult, mostAttachments } from './mail-text.ts';
import { type Format, type ReadOptions, type ReadResult, UnreadableFile } from './types.ts';

/** A mail as it was sent (RFC 5322): headers, body, attachments. */
export async function readEml(bytes: Uint8Array, options: ReadOptions): Promise<ReadResult> {
  // A mailbox line before the headers is not part of the mail.
  const body = withUtf8(withoutMailboxLine(bytes));
  let mail;
  try {
    mail = await PostalMime.parse(body, { forceRfc822Attachments: true, attachmentEncoding: 'arraybuffer', maxNestingDepth: 50, maxHeadersSize: 4 * 1024 ** 2 });
  } catch {
    throw new UnreadableFile('Damaged: it is not a mail that can be taken apart');
  }
  const isEncrypted = /^(application\/(x-)?pkcs7-mime|multipart\/encrypted)/i.test(mail.headers.find(({ key }) => key === 'content-type')?.value ?? '');
  if (isEncrypted && !mail.text && !mail.html) throw new UnreadableFile('The mail is encrypted — export it without encryption and upload that');
  const shown = shownPictures(mail.html ?? '');
  const files = mail.attachments.filter((part) => !isPartOfPage(part, shown));
  const attachments = files.slice(0, mostAttachments).map((part, index) => ({
    name: part.filename ?? `attachment-${index + 1}${extensions[part.mimeType] ?? ''}`,
    bytes: bytesOf(part),
    ...(isPicture(part) && shown.has(contentIdOf(part.contentId)) && { inline: true }),
  }));
  return mailResult(
    'eml',
    {
      subject: mail.subject ?? '',
      from: mail.from ? addressText([mail.from]) : '',
      to: addressText(mail.to ?? []),
      cc: addressText(mail.cc ?? []),
      date: mail.headers.find(({ key }) => key === 'date')?.value ?? mail.date ?? '',
      text: mail.text,
      html: mail.html,
      attachments,
      notices: leftOutNotice(files.length - attachments.length),
    },
    options,
  );
}

const isPicture = ({ mimeType }: MimePart): boolean => mimeType.startsWith('image/');
const bytesOf = ({ content }: MimePart): Uint8Array => (typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content));
/** For parts that have no name. */
const extensions: Record<string, string> = { 'message/rfc822': '.eml', 'image/png': '.png', 'image/jpeg': '.jpg', 'image/gif': '.gif', 'image/tiff': '.tiff', 'image/webp': '.webp' };

/** A small picture that the page itself shows is no file that somebody attached. */
function isPartOfPage(part: MimePart, shown: ShownPictures): boolean {
  const area = shown.get(contentIdOf(part.contentId));
  return part.related === true && isPicture(part) && part.disposition !== 'attachment' && area !== undefined && isIcon(bytesOf(part), area);
}

const addressText = (addresses: Address[]): string =>
  addresses
    .map(({ name, address, group }) => (group ? `${name}: ${addressText(group)}` : name && address && name !== address ? `${name} <${address}>` : (address ?? name)))
    .filter(Boolean)
    .join(', ');

/** A mail that says nowhere which encoding it is in is read in the one that its bytes look like: old programs sent their own. */
function withUtf8(bytes: Uint8Array): Uint8Array {
  if (isUtf8(bytes) || /charset\s*\*?=/i.test(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1'))) return bytes;
  const encoding = detectEncoding(bytes);
  return encoding === undefined || encoding.startsWith('utf-') ? bytes : Buffer.from(decode(bytes, encoding), 'utf8');
}

function withoutMailboxLine(bytes: Uint8Array): Uint8Array {
  const start = Buffer.from(bytes.subarray(0, 1_000)).toString('latin1');
  return /^>?From \S/.test(start) ? bytes.subarray(start.indexOf('\n') + 1) : bytes;
}

const known = /^(received|return-path|mime-version|date|subject|from|to|cc|message-id|delivered-to|reply-to|sender|content-type|in-reply-to|references|x-[\w-]+|dkim-signature|arc-[\w-]+|authentication-results)$/i;

/** Header lines at the very beginning, at least two of them a mail's own. */
function looksLikeMail(head: Uint8Array): boolean {
  const lines = Buffer.from(head.subarray(0, 16_384)).toString('latin1').replace(/^\xef\xbb\xbf/, '').split(/\r?\n/);
  if (/^>?From \S+ /.test(lines[0] ?? '')) lines.shift();
  let found = 0;
  for (const line of lines) {
    if (line === '') break;
    if (/^[ \t]/.test(line)) continue;
    const name = /^([!-9;-~]+):/.exec(line)?.[1];
    if (name === undefined) return false;
    if (known.test(name)) found++;
  }
  return found >= 2;
}

export const eml: Format = {
  type: 'eml',
  sniff: (head, name) => looksLikeMail(head) && !/\.(txt|md|csv)$/i.test(name),
  read: readEml,
};
