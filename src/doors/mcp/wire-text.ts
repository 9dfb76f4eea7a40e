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

function writeMember(name: string, value: unknown): WireText {
  if (name !== 'tools' || typeof value !== 'object' || value === null) return toWire(JSON.stringify(value));
  const known = lists.get(value);
  if (known !== undefined) return known;
  const text = toWire(JSON.stringify(value));
  lists.set(value, text);
  return text;
}
