import fc from 'fast-check';
import { z } from 'zod';

/** Inputs for one route, made from its own schemas: mostly of the right shape, and in every place sometimes something else. */

interface JsonSchema {
  type?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  minimum?: number;
  maximum?: number;
}

/** What no careful caller sends. */
const HOSTILE: unknown[] = [
  null,
  '',
  ' ',
  '\0',
  '\u202e\u2066',
  '\ud800',
  'é'.normalize('NFD'),
  '🧑‍🚀'.repeat(50),
  'x'.repeat(20_000),
  '../../etc/passwd',
  "' OR 1=1--",
  '%00%2f..%2f',
  '<img src=x onerror=alert(1)>',
  '{{7*7}}',
  '"; filename="x',
  '\r\nX-Injected: 1',
  'NEAR(',
  '*'.repeat(2_000),
  '"'.repeat(1_001),
  0,
  -1,
  1.5,
  1e9,
  1e308,
  Number.MAX_SAFE_INTEGER + 2,
  true,
  [],
  [[[[]]]],
  [null],
  {},
  { constructor: { prototype: { polluted: true } } },
  JSON.parse('{"__proto__": {"polluted": true}}'),
];

const hostile = fc.constantFrom(...HOSTILE);

/** A body of this schema, with hostile values, missing fields and fields too many mixed in. */
export function bodyOf(schema: z.ZodType, words: readonly string[]): fc.Arbitrary<unknown> {
  return mostly(9, valueOf(jsonSchemaOf(schema), words));
}

/** A query string of this schema; names may come twice. */
export function queryOf(schema: z.ZodType, words: readonly string[]): fc.Arbitrary<string> {
  const properties = Object.entries(jsonSchemaOf(schema).properties ?? {});
  const pairs = properties.map(([name, one]) =>
    fc
      .option(mostly(3, valueOf(one, words)), { freq: 2 })
      .map((value) => (value === null ? [] : [[name, textOf(value)]])),
  );
  const further = fc.option(
    fc.constantFrom(['__proto__', 'x'], ['limit', 'x'], ['limit', '5'], ['q', 'harbour'], ['', ''], ['a[b]', 'c']),
    { freq: 4 },
  );
  return fc
    .tuple(fc.tuple(...pairs), further)
    .map(([lists, one]) =>
      new URLSearchParams([...lists.flat(), ...(one ? [one] : [])] as [string, string][]).toString(),
    );
}

/** One of these words, or something hostile as text. */
export const wordOf = (words: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...words) }, { weight: 1, arbitrary: hostile.map(textOf) });

const mostly = (weight: number, arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight, arbitrary }, { weight: 1, arbitrary: hostile });

const jsonSchemaOf = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;

function valueOf(schema: JsonSchema, words: readonly string[]): fc.Arbitrary<unknown> {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return fc.oneof(...alternatives.map((one) => valueOf(one, words)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object': {
      const model = Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, one]) => [name, mostly(6, valueOf(one, words))]),
      );
      const keep = (schema.required ?? []).filter((name) => name in model);
      return fc
        .tuple(
          fc.record(model, { requiredKeys: keep }),
          fc.option(fc.constantFrom('extra', '__proto__', 'toString'), { freq: 6 }),
          fc.nat(9),
        )
        .map(([value, extra, drop]) => {
          const entries = Object.entries(value).filter((_, index) => drop !== index);
          return extra === null ? Object.fromEntries(entries) : Object.fromEntries([...entries, [extra, 1]]);
        });
    }
    case 'array':
      return fc.array(mostly(6, valueOf(schema.items ?? {}, words)), { maxLength: 3 });
    case 'integer':
    case 'number':
      return fc.integer({ min: schema.minimum ?? -5, max: Math.min(schema.maximum ?? 1000, 100_000) });
    case 'boolean':
      return fc.boolean();
    default:
      return fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 40, unit: 'binary' }));
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();
