import { pino, type Logger } from 'pino';
import type { Config } from '../config.ts';

/** JSON lines on stderr, so that stdout keeps to the lines that scripts wait for. Never queries, document text or keys. */
export const createLog = (config: Config, part: 'server' | 'worker'): Logger =>
  pino({ level: config.logLevel, base: { part }, redact: ['req.headers', 'headers'] }, pino.destination({ fd: 2, sync: false }));
