/**
 * Tools that the official conformance runner calls by name, put in front of a door for the length of a test. They exist
 * only here: no server that people run can mount them.
 */
import { RpcError } from '../../src/doors/mcp/rpc-error.ts';
import type { McpCallContext, McpContent, McpDoor, McpTool, McpToolResult } from '../../src/doors/mcp/types.ts';

const MISSING_CAPABILITY = -32021;

/** One red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** A WAV header with no samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const text = (words: string): McpContent => ({ type: 'text', text: words });
const image: McpContent = { type: 'image', data: PNG, mimeType: 'image/png' };

/** What the runner expects to find unchanged in `tools/list`. */
const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

interface FixtureTool {
  inputSchema?: Record<string, unknown>;
  run(context: McpCallContext): McpToolResult;
}

const answer = (...content: McpContent[]): FixtureTool => ({ run: () => ({ content, isError: false }) });

const FIXTURES: Record<string, FixtureTool> = {
  test_simple_text: answer(text('This is a simple text response for testing.')),
  test_image_content: answer(image),
  test_audio_content: answer({ type: 'audio', data: WAV, mimeType: 'audio/wav' }),
  test_embedded_resource: answer({
    type: 'resource',
    resource: {
      uri: 'test://embedded-resource',
      mimeType: 'text/plain',
      text: 'This is an embedded resource content.',
    },
  }),
  test_multiple_content_types: answer(text('Multiple content types test:'), image, {
    type: 'resource',
    resource: {
      uri: 'test://mixed-content-resource',
      mimeType: 'application/json',
      text: '{"test":"data","value":123}',
    },
  }),
  test_error_handling: {
    run: () => ({ content: [text('This tool intentionally returns an error for testing')], isError: true }),
  },
  test_missing_capability: {
    run(context) {
      if (context.clientCapabilities?.sampling) return { content: [text('Sampling was declared')], isError: false };
      throw new RpcError(MISSING_CAPABILITY, 'Missing required client capability: sampling', {
        status: 400,
        data: { requiredCapabilities: { sampling: {} } },
      });
    },
  },
  json_schema_2020_12_tool: { inputSchema: SCHEMA_2020_12, ...answer(text('ok')) },
};

/** The door with the fixture tools after its own. */
export function addFixtureTools(door: McpDoor): McpDoor {
  return {
    ...door,
    async listTools() {
      const fixtures = Object.entries(FIXTURES).map(([name, tool]): McpTool => ({
        name,
        description: `Conformance fixture ${name}`,
        inputSchema: tool.inputSchema ?? { type: 'object', properties: {} },
      }));
      return [...(await door.listTools()), ...fixtures];
    },
    async callTool(name, args, context) {
      return Object.hasOwn(FIXTURES, name) ? FIXTURES[name]!.run(context) : door.callTool(name, args, context);
    },
  };
}
