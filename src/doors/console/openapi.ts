import type { FastifySchema } from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';

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
  const config = (input.route as { config?: { public?: boolean } }).config;
  if (config?.public === true) described.security = [];
  return { schema: described, url };
}
