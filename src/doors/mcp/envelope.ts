import { isUtf8 } from 'node:buffer';
import { findJsonFault } from './json-guard.ts';
import { INVALID_REQUEST, PARSE_ERROR } from './protocol.ts';
import { RpcError } from './rpc-error.ts';

/** Levels of nesting a request may have (trust.md P25). */
export const MAX_JSON_DEPTH = 64;

export type RpcId = string | number;

export type RpcMessage =
  | { kind: 'request'; id: RpcId; method: string; params: Record<string, unknown> }
  | { kind: 'notification'; method: string }
  | { kind: 'response' };

/** An envelope that cannot be served: the error, and the id it can be answered under (null when there is none). */
export class EnvelopeError extends RpcError {
  readonly id: RpcId | null;

  constructor(code: number, message: string, id: RpcId | null) {
    super(code, message, { status: 400 });
    this.name = 'EnvelopeError';
    this.id = id;
  }
}

/** One JSON-RPC 2.0 message out of the bytes of a POST; throws EnvelopeError (HTTP 400) for anything else. */
export function readMessage(body: Buffer): RpcMessage {
  const value = readJson(body);
  if (Array.isArray(value)) throw invalid('Invalid Request: batches are not supported — send one message per POST');
  if (!isObject(value)) throw invalid('Invalid Request: the body must be one JSON-RPC object');
  const hasId = Object.hasOwn(value, 'id');
  const id = readId(value.id);
  if (value.jsonrpc !== '2.0') throw invalid('Invalid Request: `jsonrpc` must be "2.0"', id);
  if (!Object.hasOwn(value, 'method') && (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error')))
    return { kind: 'response' };
  if (typeof value.method !== 'string') throw invalid('Invalid Request: `method` must be a string', id);
  if (!hasId) return { kind: 'notification', method: value.method };
  if (id === null) throw invalid('Invalid Request: `id` must be a string or a whole number');
  if (value.params !== undefined && !isObject(value.params))
    throw invalid('Invalid Request: `params` must be an object', id);
  return { kind: 'request', id, method: value.method, params: value.params ?? {} };
}

function readJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw new EnvelopeError(PARSE_ERROR, 'Parse error: the body is not UTF-8', null);
  const text = body.toString('utf8');
  const fault = findJsonFault(text, MAX_JSON_DEPTH);
  if (fault !== null) throw invalid(`Invalid Request: ${fault}`);
  try {
    return JSON.parse(text);
  } catch {
    throw new EnvelopeError(PARSE_ERROR, 'Parse error: the body is not JSON', null);
  }
}

/** Ids that can be echoed exactly: strings and numbers that JSON carries without loss. */
function readId(id: unknown): RpcId | null {
  if (typeof id === 'string') return id;
  if (typeof id !== 'number' || !Number.isFinite(id)) return null;
  return Number.isInteger(id) && !Number.isSafeInteger(id) ? null : id;
}

function invalid(message: string, id: RpcId | null = null): EnvelopeError {
  return new EnvelopeError(INVALID_REQUEST, message, id);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
