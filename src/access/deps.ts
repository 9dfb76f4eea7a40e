import type { Audit } from '../audit/types.ts';
import type { Clock, RandomBytes } from '../clock.ts';
import type { Storage } from '../storage/ports.ts';

/** What every service of access/ takes from outside. */
export interface AccessDeps {
  storage: Storage;
  audit: Audit;
  clock: Clock;
  random: RandomBytes;
}
