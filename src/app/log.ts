import { pino, type Logger } from 'pino';
import type { Config } from '../config.ts';

/** Lines wait for this many bytes or this long: a write of its own for each request costs more than the request's log line. */
const GATHER_BYTES = 4096;
const GATHER_MS = 250;

/** JSON lines on stderr, so that stdout keeps to the lines that scripts wait for. Never queries, document text or keys. */
export const createLog = (config: Config, part: 'server' | 'worker' | 'command'): Logger =>
  pino(
    { level: config.logLevel, base: { part }, redact: ['req.headers', 'headers'] },
    pino.destination({ fd: 2, sync: false, minLength: GATHER_BYTES, periodicFlush: GATHER_MS }),
  );
