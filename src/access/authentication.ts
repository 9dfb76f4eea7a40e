import { AppError } from '../errors.ts';
import type { KeyRow, KeyValueRow, UserRow } from '../storage/ports.ts';
import type { ActorUser, AgentKeyActor, UserActor } from './actor.ts';
import { readCredential, type Credentials } from './credential.ts';
import type { AccessDeps } from './deps.ts';
import { hashSecret, maskKey } from './key-text.ts';
import { forgetCredential, isKnownCredential } from './known-credentials.ts';
import { loginExtendEveryMs, loginIdleMs, loginLongestMs } from './login-token.ts';

export type { Credentials } from './credential.ts';

export interface RequestFacts {
  requestId: string;
  /** `X-Sergo-End-User` as it came; cut at 256 characters here and escaped when it is written to the audit log. */
  endUser?: string | undefined;
  /** What the request came over. The next one over it mostly sends the same key: its form and its hash are kept with it. */
  connection?: object;
  /** What to answer instead of looking up a credential that nobody knows, or null: the door's own count of wrong ones (P19). */
  heldUp?: () => AppError | null;
}

/** Word for word from seeds/000 "Endpoint" and DESIGN.md section 5. */
const sentences = {
  none: 'No credentials — send a login token or an sgk_ key in the Authorization header',
  malformed: "Malformed key — the prefix or checksum doesn't match, so check the value wasn't truncated when copied",
  loginAtAgentDoor: 'MCP takes an agent key (sgk_s_…) in the Authorization header',
  personalAtAgentDoor: 'Personal keys work with the API only — make a key for an agent to use MCP',
  externalAtAgentDoor: 'External keys work with /api/external only — make a key for an agent to use MCP',
  notValid: 'This key is not valid here — it may have been revoked or rolled; ask whoever manages Sergo for a new one',
  loginEnded: 'This sign-in has ended — sign in again',
  agentAtApi: 'Agent keys work with MCP only — make a personal key to use the API',
  externalAtApi: 'External keys work with /api/external only — make a personal key to use the API',
} as const;

const touchEveryMs = 60_000;

/**
 * The agent door: an agent key or one of the reference's refusals (seeds/000 "Endpoint"). Cookies are not looked at.
 * AppError: bad_request (two credentials that differ), no_auth, bad_key, personal_key, external_key.
 */
export async function authenticateForAgentDoor(deps: AccessDeps, credentials: Credentials, facts: RequestFacts): Promise<AgentKeyActor> {
  const { key, value, owner } = await keyInUse(deps, sentBefore(credentials, facts) ?? readAgentKey(credentials, facts), facts);
  return {
    kind: 'agent_key',
    key: { ref: key.ref, id: key.id, name: key.name, description: key.description, masked: value.masked },
    owner: actorUserOf(owner),
    ...requestOf(facts),
  };
}

/** A key as it was sent, and what is looked up for it. */
interface SentKey {
  text: string;
  hash: string;
  question: string;
}

const sentKeyOf = (text: string): SentKey => {
  const hash = hashSecret(text);
  return { text, hash, question: `key in use ${hash}` };
};

/** Of each open connection the agent key that it sent last: only ever compared with what that very connection sends again. */
const sentOver = new WeakMap<object, SentKey & { authorization: string }>();

function sentBefore({ authorization, xApiKey }: Credentials, { connection }: RequestFacts): SentKey | null {
  const known = connection && xApiKey === undefined ? sentOver.get(connection) : undefined;
  return known !== undefined && known.authorization === authorization ? known : null;
}

function readAgentKey(credentials: Credentials, { connection }: RequestFacts): SentKey {
  const credential = readCredential({ ...credentials, cookie: undefined });
  if (credential.kind === 'none') throw new AppError('no_auth', sentences.none);
  if (credential.kind === 'malformed') throw new AppError('bad_key', sentences.malformed);
  if (credential.kind === 'login') throw new AppError('no_auth', sentences.loginAtAgentDoor);
  if (credential.of === 'personal') throw new AppError('personal_key', sentences.personalAtAgentDoor);
  if (credential.of === 'external') throw new AppError('external_key', sentences.externalAtAgentDoor);
  const sent = sentKeyOf(credential.text);
  const { authorization, xApiKey } = credentials;
  if (connection && typeof authorization === 'string' && xApiKey === undefined) sentOver.set(connection, { ...sent, authorization });
  return sent;
}

/**
 * The console's API: a login token (bearer or cookie) or a personal key. A cookie counts only when no header carries a credential.
 * AppError: bad_request, no_auth, bad_key, agent_key, external_key.
 */
export async function authenticateForApi(deps: AccessDeps, credentials: Credentials, facts: RequestFacts): Promise<UserActor> {
  const credential = readCredential(credentials);
  if (credential.kind === 'none') throw new AppError('no_auth', sentences.none);
  if (credential.kind === 'malformed') throw new AppError('bad_key', sentences.malformed);
  if (credential.kind === 'login') {
    const user = await userOfLogin(deps, credential.text, facts);
    return { kind: 'user', user: actorUserOf(user), via: 'session', fromCookie: credential.fromCookie, ...requestOf(facts) };
  }
  if (credential.of === 'agent') throw new AppError('agent_key', sentences.agentAtApi);
  if (credential.of === 'external') throw new AppError('external_key', sentences.externalAtApi);
  const { value, owner } = await keyInUse(deps, sentKeyOf(credential.text), facts);
  return { kind: 'user', user: actorUserOf(owner), via: 'personal_key', masked: value.masked, fromCookie: false, ...requestOf(facts) };
}

/** Two indexed look-ups. Unknown, revoked, run out or owned by a disabled user: one answer; the log says which. */
async function keyInUse(deps: AccessDeps, { text, hash, question }: SentKey, facts: RequestFacts): Promise<{ key: KeyRow; value: KeyValueRow; owner: UserRow }> {
  const refusal = facts.heldUp?.() ?? null;
  if (refusal !== null) await refuseGuess(deps, hash, refusal);
  const { found, owner } = await deps.storage.recall(question, async () => {
    const found = await deps.storage.keys.byValueHash(hash);
    return { found, owner: found === null ? null : await deps.storage.users.byRef(found.key.owner) };
  });
  const now = deps.clock.now();
  const problem = whyNot(found, owner, now);
  if (found === null || owner === null || problem !== null) {
    forgetCredential(deps.storage, hash);
    await deps.audit.record({
      actor: { kind: 'anonymous', masked: maskKey(text), ...requestOf(facts) },
      action: 'request refused',
      ...(found === null ? {} : { object: { kind: 'key' as const, id: found.key.id } }),
      detail: problem ?? 'unknown key',
      outcome: 'denied',
    });
    throw new AppError('bad_key', sentences.notValid);
  }
  touch(deps, found.key, now);
  return { ...found, owner };
}

/** An address that has sent too many wrong ones gets no further look-up, and no audit row, for another that is not there. */
async function refuseGuess(deps: AccessDeps, hash: string, refusal: AppError): Promise<void> {
  if (!(await isKnownCredential(deps, hash))) throw refusal;
}

function whyNot(found: { key: KeyRow; value: KeyValueRow } | null, owner: UserRow | null, now: number): string | null {
  if (found === null) return 'unknown key';
  if (found.key.revokedAt !== null) return 'revoked key';
  if (found.value.validUntil !== null && now >= found.value.validUntil) return 'old value of a rolled key';
  if (owner === null || owner.disabledAt !== null) return 'key of a disabled user';
  return null;
}

/** "Last used" is a hint for people: written at most once a minute and never waited for. */
function touch(deps: AccessDeps, key: KeyRow, now: number): void {
  if (key.lastUsedAt !== null && now - key.lastUsedAt < touchEveryMs) return;
  const last = touched.get(deps.storage)?.get(key.ref);
  if (last !== undefined && now >= last && now - last < touchEveryMs) return;
  if (!touched.has(deps.storage)) touched.set(deps.storage, new Map());
  touched.get(deps.storage)?.set(key.ref, now);
  // A full disk must not turn a call that could be answered into a failure; the audit row is what counts.
  deps.storage.keys.touch(key.ref, now).catch(() => undefined);
}

/** When this process last wrote a key's "last used": keeps a burst of calls from queueing a write each. */
const touched = new WeakMap<AccessDeps['storage'], Map<number, number>>();

async function userOfLogin(deps: AccessDeps, token: string, facts: RequestFacts): Promise<UserRow> {
  const hash = hashSecret(token);
  const refusal = facts.heldUp?.() ?? null;
  if (refusal !== null) await refuseGuess(deps, hash, refusal);
  const session = await deps.storage.sessions.byHash(hash);
  const user = session === null ? null : await deps.storage.users.byRef(session.user);
  const now = deps.clock.now();
  if (session === null || user === null || user.disabledAt !== null || now >= session.expiresAt || now >= session.createdAt + loginLongestMs) {
    forgetCredential(deps.storage, hash);
    throw new AppError('no_auth', sentences.loginEnded);
  }
  const end = Math.min(now + loginIdleMs, session.createdAt + loginLongestMs);
  if (end - session.expiresAt >= loginExtendEveryMs) await deps.storage.sessions.extend(session.tokenHash, end);
  return user;
}

export const actorUserOf = (user: UserRow): ActorUser => ({
  ref: user.ref,
  id: user.id,
  name: user.name,
  email: user.email,
  role: user.role,
  rootFolder: user.rootFolder,
});

function requestOf(facts: RequestFacts): { requestId: string; endUser?: string } {
  const endUser = facts.endUser?.trim();
  if (endUser === undefined || endUser === '') return { requestId: facts.requestId };
  return { requestId: facts.requestId, endUser: Array.from(endUser.slice(0, 1024)).slice(0, 256).join('') };
}
