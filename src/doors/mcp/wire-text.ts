import { randomUUID } from 'node:crypto';

/**
 * An answer as it goes over the wire: a string with one character for each byte of its UTF-8. Node writes such a string together
 * with the headers in one copy; a string with a single `—` in it is otherwise measured once and encoded once more for each answer.
 */
export type WireText = string & { readonly wire: true };

export const toWire = (text: string): WireText => Buffer.from(text, 'utf8').toString('latin1') as WireText;

/**
 * JSON.stringify of an answer's object, member by member, so that a list of tools is not written anew for each call: the same array
 * (a door answers the same one while nothing changed) is the same text.
 */
export function writeObject(value: Record<string, unknown>): WireText {
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `"${name}":${writeMember(name, member)}`).join(',')}}` as WireText;
}

const lists = new WeakMap<object, WireText>();

/** Bytes in an answer, as base64: plain characters by its nature, so that a picture is not searched for what JSON must escape. */
export class Base64 {
  readonly text: string;

  constructor(bytes: Uint8Array) {
    this.text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  }
}

/** Stands for base64 while the rest is written; nobody outside can know it. */
const PLACE = `base64-${randomUUID()}`;

function writeContent(value: unknown): WireText {
  const found: string[] = [];
  const around = JSON.stringify(value, (_name, member: unknown) => {
    if (!(member instanceof Base64)) return member;
    found.push(member.text);
    return PLACE;
  }).split(PLACE);
  return around.map((part, at) => toWire(part) + (found[at] ?? '')).join('') as WireText;
}

function writeMember(name: string, value: unknown): WireText {
  if (name === 'content') return writeContent(value);
  if (name !== 'tools' || typeof value !== 'object' || value === null) return toWire(JSON.stringify(value));
  const known = lists.get(value);
  if (known !== undefined) return known;
  const text = toWire(JSON.stringify(value));
  lists.set(value, text);
  return text;
}
