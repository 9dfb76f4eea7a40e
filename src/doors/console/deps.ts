import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Clock } from '../../clock.ts';
import type { LibraryDeps } from '../../library/deps.ts';
import type { RateLimits } from '../http-limits.ts';
import type { ConsolePorts } from './ports.ts';
import type { ProgressWatch } from './progress-watch.ts';

export interface ConsoleDeps {
  /** Storage, blobs, audit, clock, random, limits: what the services of library and access take. */
  library: LibraryDeps;
  ports: ConsolePorts;
  limits: RateLimits;
  clock: Clock;
  /** Drives the cookie's name and its Secure mark. */
  publicUrl: string;
  /** Shown in the OpenAPI document only. */
  version: string;
  /** Called once the first admin is made: whoever keeps the set-up token takes it away. */
  afterSetUp?(): Promise<void>;
}

/** What routes get: the door makes the rest. */
export interface RouteDeps extends ConsoleDeps {
  progress: ProgressWatch;
}

const typed = (app: FastifyInstance) => app.withTypeProvider<ZodTypeProvider>();

/** An instance whose routes take zod schemas. */
export type ConsoleApp = ReturnType<typeof typed>;
