import { randomUUID } from 'node:crypto';

/**
 * An answer as it goes over the wire: a string with one character for each byte of its UTF-8. Node writes such a string together
 * with the headers in one copy; a string with a single `—` in it is otherwise measured once and encoded once more for each answer.
 */
export type WireText = string & { readonly wire: true };

/** The same, with a picture's bytes between its parts: half a megabyte is not copied from string to string. */
export type Wire = WireText | readonly (WireText | Buffer)[];

const PLAIN = /^[\0-\x7f]*$/;
/** Longer ones are encoded sooner than searched. */
const SHORT = 256;

export function toWire(text: string): WireText {
  if (text.length <= SHORT && PLAIN.test(text)) return text as WireText;
  return Buffer.from(text, 'utf8').toString('latin1') as WireText;
}

/** One value between two texts. */
export function enclose(before: string, wire: Wire, after: string): Wire {
  if (typeof wire === 'string') return (before + wire + after) as WireText;
  return [before as WireText, ...wire, after as WireText];
}

export const bytesOf = (wire: Wire): number => (typeof wire === 'string' ? wire.length : wire.reduce((sum, part) => sum + part.length, 0));

/**
 * JSON.stringify of an answer's object, member by member: bytes stay bytes. `first` and `last` are members that were written before,
 * such as `"a":1`.
 */
export function writeObject(value: object, first = '', last = ''): Wire {
  let text = `{${first}`;
  let isFirst = first === '';
  let parts: (WireText | Buffer)[] | null = null;
  const members = value as Record<string, unknown>;
  for (const name in members) {
    const member = members[name];
    if (member === undefined) continue;
    text += isFirst ? `"${name}":` : `,"${name}":`;
    isFirst = false;
    const written = writeMember(name, member);
    if (typeof written === 'string') {
      text += written;
      continue;
    }
    parts = [...(parts ?? []), text as WireText, ...written];
    text = '';
  }
  text += last === '' || isFirst ? `${last}}` : `,${last}}`;
  return parts === null ? (text as WireText) : [...parts, text as WireText];
}

const encoded = new WeakMap<Uint8Array, Buffer>();

/** Bytes in an answer, as base64: plain characters by its nature, so that a picture is not searched for what JSON must escape. */
export class Base64 {
  /** Of the characters. The same bytes are encoded once. */
  readonly characters: Buffer;

  constructor(bytes: Uint8Array) {
    let characters = encoded.get(bytes);
    if (characters === undefined) {
      characters = Buffer.from(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'), 'latin1');
      encoded.set(bytes, characters);
    }
    this.characters = characters;
  }
}

/** Stands for base64 while the rest is written; nobody outside can know it. */
const PLACE = `base64-${randomUUID()}`;

function writeContent(value: unknown): Wire {
  // Nearly every answer is one text, and a replacer is asked about each member.
  if (isOneText(value)) return toWire(JSON.stringify(value));
  const found: Buffer[] = [];
  const text = JSON.stringify(value, (_name, member: unknown) => {
    if (!(member instanceof Base64)) return member;
    found.push(member.characters);
    return PLACE;
  });
  if (found.length === 0) return toWire(text);
  return text.split(PLACE).flatMap((part, at) => (found[at] ? [toWire(part), found[at]] : [toWire(part)]));
}

function writeMember(name: string, value: unknown): Wire {
  if (name === 'content') return writeContent(value);
  if (typeof value === 'boolean') return String(value) as WireText;
  return toWire(JSON.stringify(value));
}

function isOneText(content: unknown): boolean {
  return Array.isArray(content) && content.length === 1 && (content[0] as { type?: unknown }).type === 'text';
}
