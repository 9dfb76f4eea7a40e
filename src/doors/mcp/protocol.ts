/** Names and numbers of the protocol (specification revisions 2025-06-18, 2025-11-25 and 2026-07-28). */

/** Revisions opened by `initialize`, newest first. */
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18'];

/** Revisions in which every request stands alone and says its version in `_meta`. */
export const MODERN_VERSIONS: readonly string[] = ['2026-07-28'];

export const SUPPORTED_VERSIONS: readonly string[] = [...MODERN_VERSIONS, ...LEGACY_VERSIONS];

/** `MCP-Protocol-Version` in the legacy era; a request without it counts as 2025-03-26, so saying so is fine too. */
export const LEGACY_HEADER_VERSIONS: readonly string[] = [...LEGACY_VERSIONS, '2025-03-26'];

export const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
export const META_CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
export const META_SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
/** Legacy era: a version header that this server does not speak. */
export const BAD_VERSION_HEADER = -32000;
export const SESSION_NOT_FOUND = -32001;
/** Legacy era only: the modern one must not emit it (mcp.md decision 5). */
export const OUT_OF_SCOPE = -32002;
export const OUT_OF_SCOPE_MODERN = 40301;
export const HEADER_MISMATCH = -32020;
export const UNSUPPORTED_VERSION = -32022;

/** The one sentence for whatever is our own fault (seeds/004). */
export const INTERNAL_SENTENCE = 'An internal error occurred while executing this tool';
