/**
 * An answer of JSON-RPC's own error kind. `status` is the HTTP status it travels with: 200 unless the specification
 * wants another one.
 */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  readonly status: number;

  constructor(code: number, message: string, more: { data?: unknown; status?: number } = {}) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = more.data;
    this.status = more.status ?? 200;
  }
}
