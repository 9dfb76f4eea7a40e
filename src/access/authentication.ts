import type { AgentKeyActor, UserActor } from './actor.ts';
import type { AccessDeps } from './deps.ts';

/** The raw header values of one request, untouched; the only credential parser is behind this (CVE-2026-45339). */
export interface Credentials {
  authorization?: string | string[] | undefined;
  xApiKey?: string | string[] | undefined;
  /** The value of the session cookie, already taken out of the Cookie header by the door. */
  cookie?: string | undefined;
}

export interface RequestFacts {
  requestId: string;
  /** `X-Sergo-End-User` as it came; cut at 256 characters and cleaned here. */
  endUser?: string | undefined;
}

/**
 * The agent door: an agent key or one of the reference's refusals (seeds/000 "Endpoint").
 * AppError: bad_request (two credentials that differ), no_auth, bad_key, personal_key, external_key.
 */
export async function authenticateForAgentDoor(deps: AccessDeps, credentials: Credentials, facts: RequestFacts): Promise<AgentKeyActor> {
  throw new Error(`not landed yet ${[deps, credentials, facts].length}`);
}

/**
 * The console's API: a login token (bearer or cookie) or a personal key. A cookie counts only when no header carries a credential.
 * AppError: bad_request, no_auth, bad_key, agent_key, external_key.
 */
export async function authenticateForApi(deps: AccessDeps, credentials: Credentials, facts: RequestFacts): Promise<UserActor> {
  throw new Error(`not landed yet ${[deps, credentials, facts].length}`);
}
