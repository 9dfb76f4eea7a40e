import type { z } from 'zod';
import type { FastifySchemaCompiler } from 'fastify';
import { AppError } from '../errors.ts';

/**
 * Checks input with the route's zod schema; what is wrong comes back as one sentence that names the field and what would be
 * right, as AppError `invalid`.
 */
export const compileValidator: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  return (data) => {
    // A missing JSON body is the same mistake as an empty one: the sentence then names the first field that is needed.
    const parsed = schema.safeParse(httpPart === 'body' && data === null ? {} : data, { reportInput: true });
    return parsed.success ? { value: parsed.data } : { error: invalidInput(parsed.error) };
  };
};

/** The first issue of a zod error as an AppError. */
export function invalidInput(error: z.ZodError): AppError {
  const issue = deepest(error.issues[0]);
  if (issue === undefined) return new AppError('invalid', 'The input is not valid');
  const field = fieldOf(issue);
  return new AppError('invalid', sentenceOf(issue, field), field === '' ? {} : { field });
}

type Issue = z.core.$ZodIssue;

/** In a union the alternative that got furthest says best what is missing. */
function deepest(issue: Issue | undefined): Issue | undefined {
  if (issue?.code !== 'invalid_union' || issue.errors.length === 0) return issue;
  const inner = issue.errors.map((list) => list[0]).filter((one): one is Issue => one !== undefined);
  const best = inner.toSorted((a, b) => b.path.length - a.path.length)[0];
  return best === undefined || best.path.length === 0
    ? issue
    : ({ ...best, path: [...issue.path, ...best.path] } as Issue);
}

function fieldOf(issue: Issue): string {
  const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path;
  return path.map((part) => shown(String(part))).join('.');
}

/** Names in messages may come from the caller: short, and nothing a terminal or a page would act on. */
function shown(text: string): string {
  const plain = text.replace(/[\p{C}<>`]/gu, '');
  return plain.length > 60 ? `${plain.slice(0, 60)}…` : plain;
}

const KINDS: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  date: 'a date',
};

function sentenceOf(issue: Issue, field: string): string {
  const name = field === '' ? 'The body' : `\`${field}\``;
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined && field !== '')
        return `${name} is missing: it must be ${KINDS[issue.expected] ?? issue.expected}`;
      return `${name} must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return `${name} must ${sizeOf(issue.origin, Number(issue.minimum), 'at least')}`;
    case 'too_big':
      return `${name} must ${sizeOf(issue.origin, Number(issue.maximum), 'at most')}`;
    case 'invalid_value':
      return `${name} must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map((value) => String(value)).join(', ')}`;
    case 'unrecognized_keys':
      return `${name} is not a field of this call: leave it out`;
    case 'custom':
      return issue.message.startsWith('`') || field === '' ? issue.message : `${name} ${issue.message}`;
    case 'invalid_format':
      return `${name} must be ${issue.format === 'regex' ? issue.message : `a valid ${issue.format}`}`;
    default:
      return `${name} is not valid here: see /api/v1/openapi.json for what this call takes`;
  }
}

function sizeOf(origin: string, limit: number, bound: 'at least' | 'at most'): string {
  if (origin === 'string')
    return bound === 'at least' && limit === 1 ? 'not be empty' : `have ${bound} ${limit} characters`;
  if (origin === 'array' || origin === 'set') return `have ${bound} ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
  return `be ${bound} ${limit}`;
}
