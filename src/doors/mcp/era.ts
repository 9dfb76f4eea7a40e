import { isObject, type RpcMessage } from './envelope.ts';
import * as protocol from './protocol.ts';
import { RpcError } from './rpc-error.ts';
import type { DoorRequest } from './types.ts';

/** Legacy: opened by `initialize`. Modern: each request says its version and the client's capabilities in `_meta`. */
export type Era = { name: 'legacy' } | { name: 'modern'; clientCapabilities: Record<string, unknown> };

type Headers = Pick<DoorRequest, 'header'>;

/** Methods whose `params` name what they act on, and under which key: mirrored in `Mcp-Name` (2026-07-28, transports). */
const NAME_PARAMETER: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/**
 * Which era a message belongs to, once its headers have been found to agree with its body (mcp.md decision 3). Throws
 * RpcError with HTTP 400 where they do not.
 */
export function readEra(message: RpcMessage, headers: Headers): Era {
  const version = headers.header('mcp-protocol-version');
  const meta = message.kind === 'request' && isObject(message.params._meta) ? message.params._meta : {};
  const modern =
    Object.hasOwn(meta, protocol.META_VERSION) || (version !== undefined && protocol.MODERN_VERSIONS.includes(version));
  if (!modern) {
    checkLegacyVersion(version);
    return { name: 'legacy' };
  }
  if (message.kind === 'response')
    throw new RpcError(
      protocol.INVALID_REQUEST,
      'Invalid Request: a client sends no responses in this protocol version',
      { status: 400 },
    );
  // Header rules for notifications are not defined by this revision.
  if (message.kind === 'notification') return { name: 'modern', clientCapabilities: {} };
  return { name: 'modern', clientCapabilities: checkModernRequest(message, meta, headers) };
}

function checkLegacyVersion(version: string | undefined): void {
  if (version === undefined || protocol.LEGACY_HEADER_VERSIONS.includes(version)) return;
  throw new RpcError(
    protocol.BAD_VERSION_HEADER,
    `Bad Request: unsupported protocol version (supported: ${protocol.SUPPORTED_VERSIONS.join(', ')})`,
    {
      status: 400,
      data: { supported: protocol.SUPPORTED_VERSIONS, requested: version },
    },
  );
}

function checkModernRequest(
  message: RpcMessage & { kind: 'request' },
  meta: Record<string, unknown>,
  headers: Headers,
): Record<string, unknown> {
  const version = meta[protocol.META_VERSION];
  if (typeof version !== 'string') throw invalidMeta(`\`_meta\` must carry \`${protocol.META_VERSION}\``);
  const capabilities = meta[protocol.META_CLIENT_CAPABILITIES];
  if (!isObject(capabilities)) throw invalidMeta(`\`_meta\` must carry \`${protocol.META_CLIENT_CAPABILITIES}\``);
  checkMirror('MCP-Protocol-Version', headers.header('mcp-protocol-version'), version);
  if (!protocol.MODERN_VERSIONS.includes(version)) {
    throw new RpcError(protocol.UNSUPPORTED_VERSION, 'Unsupported protocol version', {
      status: 400,
      data: { supported: protocol.SUPPORTED_VERSIONS, requested: version },
    });
  }
  checkMirror('Mcp-Method', headers.header('mcp-method'), message.method);
  const parameter = NAME_PARAMETER[message.method];
  const named = parameter === undefined ? undefined : message.params[parameter];
  if (typeof named === 'string') checkMirror('Mcp-Name', decodeSentinel(headers.header('mcp-name')), named);
  return capabilities;
}

function checkMirror(name: string, header: string | undefined, body: string): void {
  if (header === body) return;
  const fault = header === undefined ? 'header is missing or malformed' : 'header does not match the body';
  throw new RpcError(protocol.HEADER_MISMATCH, `Header mismatch: ${name} ${fault}`, { status: 400 });
}

/** `=?base64?…?=` carries what a plain header value cannot; undefined when it is not well-formed base64 of UTF-8. */
function decodeSentinel(value: string | undefined): string | undefined {
  const encoded = value === undefined ? null : /^=\?base64\?(.*)\?=$/s.exec(value);
  if (!encoded) return value;
  const bytes = Buffer.from(encoded[1]!, 'base64');
  if (bytes.toString('base64') !== encoded[1]) return undefined;
  return bytes.toString('utf8');
}

function invalidMeta(what: string): RpcError {
  return new RpcError(protocol.INVALID_PARAMS, `Invalid params: ${what}`, { status: 400 });
}
