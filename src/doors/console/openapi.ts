import type { FastifySchema } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';

/** Calls that take files: their body is read as a stream, so that no validator may ask for all of it. */
const FILE_BODY = {
  type: 'object',
  properties: {
    file: {
      type: 'array',
      items: { type: 'string', format: 'binary' },
      description: 'One part named `file` for each file',
    },
  },
  required: ['file'],
};

export type TransformInput = Parameters<typeof jsonSchemaTransform>[0];

/** From zod to OpenAPI; a call that consumes multipart gets its body described by hand. */
export function openApiTransform(input: TransformInput): { schema: FastifySchema; url: string } {
  const { schema, url } = jsonSchemaTransform(input);
  const described = schema as FastifySchema & { consumes?: string[]; security?: unknown };
  if (described.consumes?.includes('multipart/form-data') === true) described.body = FILE_BODY;
  const produces = (described as { produces?: string[] }).produces;
  if (produces !== undefined) {
    const content = Object.fromEntries(
      produces.map((mime) => [mime, { schema: { type: 'string', format: 'binary' } }]),
    );
    described.response = { 200: { description: 'The bytes', content }, ...(described.response as object | undefined) };
  }
  const config = (input.route as { config?: { public?: boolean } }).config;
  if (config?.public === true) described.security = [];
  return { schema: described, url };
}

/** Named schemas once: what no call refers to (each comes as input and as output) is left out. */
export function openApiObject(
  input: Parameters<typeof jsonSchemaTransformObject>[0],
): ReturnType<typeof jsonSchemaTransformObject> {
  const whole = jsonSchemaTransformObject(input) as { components?: { schemas?: Record<string, unknown> } };
  let schemas = whole.components?.schemas ?? {};
  for (let before = -1; before !== Object.keys(schemas).length;) {
    before = Object.keys(schemas).length;
    const text = JSON.stringify({ ...whole, components: { schemas } });
    schemas = Object.fromEntries(
      Object.entries(schemas).filter(([name]) => text.includes(`"#/components/schemas/${name}"`)),
    );
  }
  return { ...whole, components: { ...whole.components, schemas } } as ReturnType<typeof jsonSchemaTransformObject>;
}
