import { z } from 'zod';
import { Refusal } from './tool.ts';

/** A whole number that may be left out (or null, as some models send it). */
export function wholeNumber(name: string, min: number, max?: number) {
  const range = max === undefined ? `, ${min} or more` : ` from ${min} to ${max}`;
  const error = `\`${name}\` must be a whole number${range}`;
  const schema = z.int({ error }).min(min, { error });
  return (max === undefined ? schema : schema.max(max, { error })).nullish();
}

/** A required whole number. */
export function requiredWholeNumber(name: string, min: number) {
  const error = `\`${name}\` must be a whole number, ${min} or more`;
  return z.int({ error }).min(min, { error });
}

export const documentId = z.string({ error: 'Give a `document_id` from `search` or `list_documents`' });

/**
 * The arguments of a call. Throws Refusal with one sentence that says what to send instead. Unknown keys are let through,
 * since some clients add their own; one that is a known name spelt differently would silently change what the call means
 * (`folder` for `folders` searches everything), so that is refused.
 */
export function readArguments<T extends z.ZodObject>(schema: T, args: unknown): z.output<T> {
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    throw new Refusal('Give the arguments as one JSON object');
  const known = Object.keys(schema.shape);
  for (const name of Object.keys(args)) {
    if (known.includes(name)) continue;
    const meant = known.find((candidate) => spelling(candidate) === spelling(name));
    if (meant !== undefined) throw new Refusal(`Use \`${meant}\`, not \`${name}\``);
  }
  const read = schema.safeParse(args);
  if (!read.success) throw new Refusal(read.error.issues[0]!.message);
  return read.data;
}

function spelling(name: string): string {
  return name
    .slice(0, 40)
    .toLowerCase()
    .replace(/[^a-z]/g, '')
    .replace(/s$/, '');
}
