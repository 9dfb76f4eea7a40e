import { decompressRTF } from '@kenjiuno/decompressrtf';
import msgReader, { type FieldsData } from '@kenjiuno/msgreader';
import iconv from 'iconv-lite';
import { isCompoundFile, listCompoundFile, refuseCircles } from './cfb.ts';
import { decodeHtml } from './html.ts';
import { mailResult } from './mail-text.ts';
import { readRtfBody, type RtfBody } from './rtf-mail.ts';
import { decodeText } from './text.ts';
import { type Format, type ReadOptions, type ReadResult, UnreadableFile } from './types.ts';

/** The package is CommonJS: Node hands over its exports, bundlers and test runners its default. */
const exported: unknown = msgReader;
const MsgReader = (typeof exported === 'function' ? exported : msgReader.default) as typeof msgReader.default;

const mostAttachments = 1_000;
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
  const attachments = (fields.attachments ?? []).slice(0, mostAttachments).flatMap((attachment, index) => {
    // Pictures that the body itself shows are no files that somebody attached.
    if (attachment.attachmentHidden === true) return [];
    try {
      const { fileName, content } = reader.getAttachment(attachment);
      const isInner = attachment.innerMsgContent === true;
      const name = asText(fileName) || asText(attachment.name) || `attachment-${index + 1}`;
      return [{ name: isInner && !/\.msg$/i.test(name) ? `${name}.msg` : name, bytes: Uint8Array.from(content) }];
    } catch {
      return [];
    }
  });
  const written = { text: asText(fields.body), html: asText(fields.bodyHtml) || (fields.html instanceof Uint8Array ? decodeHtml(fields.html) : '') };
  const lost = (fields.attachments ?? []).filter((attachment) => attachment.attachmentHidden !== true).length - attachments.length;
  return mailResult(
    'msg',
    {
      subject: asText(fields.subject),
      from: nameAndAddress(fields.senderName, fields.senderSmtpAddress ?? fields.senderEmail),
      to: listOf('to'),
      cc: listOf('cc'),
      date: asText(fields.messageDeliveryTime ?? fields.clientSubmitTime ?? fields.creationTime),
      ...(written.html === '' ? { ...rtfOf(fields, written.text), ...(written.text === '' ? {} : { text: written.text }) } : written),
      attachments,
      ...(lost > 0 && { notices: [`${lost} of its attachments could not be taken out`] }),
    },
    options,
  );
}

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
