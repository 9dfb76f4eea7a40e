import { decompressRTF } from '@kenjiuno/decompressrtf';
import msgReader, { type FieldsData } from '@kenjiuno/msgreader';
import iconv from 'iconv-lite';
import { isCompoundFile, listCompoundFile, refuseCircles } from './cfb.ts';
import { decodeHtml } from './html.ts';
import { contentIdOf, isIcon, shownPictures } from './mail-pictures.ts';
import { leftOutNotice, mailResult, mostAttachments } from './mail-text.ts';
import { readRtfBody, type RtfBody } from './rtf-mail.ts';
import { sniffMagic } from './sniff.ts';
import { decodeText } from './text.ts';
import { type Attachment, type Format, type ReadOptions, type ReadResult, UnreadableFile } from './types.ts';

/** The package is CommonJS: Node hands over its exports, bundlers and test runners its default. */
const exported: unknown = msgReader;
const MsgReader = (typeof exported === 'function' ? exported : msgReader.default) as typeof msgReader.default;

const mostRtf = 16 * 1024 ** 2;

/** Outlook message. Old ones hold text in the sender's code page, which they name, or which is found from the text. */
export function readMsg(bytes: Uint8Array, options: ReadOptions): ReadResult {
  refuseCircles(bytes);
  let { reader, fields } = open(bytes, undefined);
  const encoding = encodingOf(fields);
  if (encoding !== undefined) ({ reader, fields } = open(bytes, encoding));
  if (fields.dataType !== 'msg') throw new UnreadableFile('Damaged: it is not a message that can be taken apart');
  const recipients = fields.recipients ?? [];
  const listOf = (kind: string) =>
    recipients
      .filter((recipient) => (recipient.recipType ?? 'to') === kind)
      .map((recipient) => nameAndAddress(recipient.name, recipient.smtpAddress ?? recipient.email))
      .join(', ');
  const plain = asText(fields.body);
  const html = asText(fields.bodyHtml) || (fields.html instanceof Uint8Array ? decodeHtml(fields.html) : '');
  const written: RtfBody = html === '' ? { ...rtfOf(fields, plain), ...(plain === '' ? {} : { text: plain }) } : { text: plain, html };
  const { attachments, notices } = takeAttachments(reader, fields, written.html ?? '');
  return mailResult(
    'msg',
    {
      subject: asText(fields.subject),
      from: nameAndAddress(fields.senderName, fields.senderSmtpAddress ?? fields.senderEmail),
      to: listOf('to'),
      cc: listOf('cc'),
      date: asText(fields.messageDeliveryTime ?? fields.clientSubmitTime ?? fields.creationTime),
      ...written,
      attachments,
      notices,
    },
    options,
  );
}

function takeAttachments(reader: InstanceType<typeof MsgReader>, fields: FieldsData, html: string): { attachments: Attachment[]; notices: string[] } {
  const shown = shownPictures(html);
  const attachments: Attachment[] = [];
  let lost = 0;
  let leftOut = 0;
  for (const [index, attachment] of (fields.attachments ?? []).entries()) {
    const isHidden = attachment.attachmentHidden === true;
    if (attachments.length === mostAttachments) {
      if (!isHidden) leftOut++;
      continue;
    }
    try {
      const { fileName, content } = reader.getAttachment(attachment);
      const bytes = Uint8Array.from(content);
      const area = shown.get(contentIdOf(asText(attachment.pidContentId)));
      // What is hidden is there for the mail's own page: of that, pictures that are more than icons are for people too.
      if (isHidden && (!isPicture(bytes) || isIcon(bytes, area ?? null))) continue;
      const name = asText(fileName) || asText(attachment.name) || `attachment-${index + 1}`;
      const isInner = attachment.innerMsgContent === true;
      attachments.push({ name: isInner && !/\.msg$/i.test(name) ? `${name}.msg` : name, bytes, ...(isPicture(bytes) && (isHidden || area !== undefined) && { inline: true }) });
    } catch {
      if (!isHidden) lost++;
    }
  }
  return { attachments, notices: [...(lost > 0 ? [`${lost} of its attachments could not be taken out`] : []), ...leftOutNotice(leftOut)] };
}

const isPicture = (bytes: Uint8Array): boolean => ['png', 'jpg', 'tiff', 'webp'].includes(sniffMagic(bytes) ?? '') || Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'GIF8';

function open(bytes: Uint8Array, ansiEncoding: string | undefined) {
  try {
    const reader = new MsgReader(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    reader.parserConfig = ansiEncoding === undefined ? {} : { ansiEncoding };
    return { reader, fields: reader.getFileData() };
  } catch {
    throw new UnreadableFile('Damaged: it is not a message that can be taken apart');
  }
}

/** Code page that the message names, or the one its text looks like; undefined when its text is plain or Unicode already. */
function encodingOf(fields: FieldsData): string | undefined {
  const text = `${asText(fields.subject)}\n${asText(fields.body)}`;
  // Unicode properties hold characters beyond one byte; what lies in 128-255 only may be bytes of a code page.
  if (!/[\u0080-\u00ff]/.test(text) || /[\u0100-\uffff]/.test(text.replace(/[\u20ac\u2018-\u201d\u2013\u2014\u2026\u0152-\u0178\u02c6\u02dc\u2020-\u2022\u2030\u2039\u203a\u2122\u0192\u017d\u017e\u0160\u0161]/g, ''))) return undefined;
  for (const page of [fields.messageCodepage, fields.internetCodepage]) {
    if (page === undefined || page === 1200 || page === 20_127) continue;
    const name = page === 65_001 ? 'utf8' : `cp${page}`;
    if (iconv.encodingExists(name)) return name;
  }
  const { encoding } = decodeText(Buffer.from(text, 'latin1'));
  return iconv.encodingExists(encoding) ? encoding : undefined;
}

/** Outlook keeps some mails in RTF alone: all of the text, or the web page beside a bare copy of its words. */
function rtfOf({ compressedRtf }: FieldsData, text: string): RtfBody {
  // The unpacker trusts the sizes at its head.
  if (!(compressedRtf instanceof Uint8Array) || compressedRtf.length < 16 || compressedRtf.length > mostRtf) return {};
  const sizes = new DataView(compressedRtf.buffer, compressedRtf.byteOffset);
  if (sizes.getUint32(0, true) + 4 > compressedRtf.length || sizes.getUint32(4, true) > mostRtf) return {};
  try {
    const body = readRtfBody(Buffer.from(decompressRTF([...compressedRtf])).toString('latin1'));
    return text === '' ? body : { html: body.html };
  } catch {
    return {};
  }
}

/** A damaged message may hold anything where text belongs. */
const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

function nameAndAddress(rawName: unknown, rawAddress: unknown): string {
  const name = asText(rawName);
  const address = asText(rawAddress);
  // Exchange addresses (/O=…/CN=…) mean nothing to a reader.
  return name !== '' && address !== '' && name !== address && !address.startsWith('/') ? `${name} <${address}>` : name || address;
}

export const msg: Format = {
  type: 'msg',
  sniff: (head) => isCompoundFile(head) && listCompoundFile(head).some(({ name }) => name === '__properties_version1.0'),
  read: async (bytes, options) => readMsg(bytes, options),
};
