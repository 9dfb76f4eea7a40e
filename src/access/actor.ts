/** Who is asking. Every service call takes one; rights are worked out from it on each request, never kept. */

/** The parts of a user that a request carries; read again from storage by each authentication. */
export interface ActorUser {
  ref: number;
  id: string;
  name: string;
  email: string;
  role: 'admin' | 'member';
  rootFolder: number;
}

export interface UserActor {
  kind: 'user';
  user: ActorUser;
  /** `local`: the operator at the command line, acting as that user. */
  via: 'session' | 'personal_key' | 'local';
  /** The personal key's mask, when it came with one. */
  masked?: string;
  /** True when the login token came as a cookie: the door must then ask for a same-origin request (CSRF). */
  fromCookie: boolean;
  requestId: string;
  endUser?: string;
}

export interface ActorKey {
  ref: number;
  id: string;
  name: string;
  description: string;
  /** The mask of the value that was sent (during a roll the old one may still work). */
  masked: string;
}

export interface AgentKeyActor {
  kind: 'agent_key';
  key: ActorKey;
  /** Whoever made the key: it never reads more than this user can read now. */
  owner: ActorUser;
  requestId: string;
  /** `X-Sergo-End-User`: written to the audit log, never changes a right. */
  endUser?: string;
}

/** The machine's own work (worker, start-up, command line). May do nothing through the policy; only names itself in the log. */
export interface SystemActor {
  kind: 'system';
  name: string;
  requestId: string;
}

/** Nobody yet: a refused sign-in or a bad key, for the audit log. */
export interface AnonymousActor {
  kind: 'anonymous';
  requestId: string;
  masked?: string;
  endUser?: string;
}

export type Actor = UserActor | AgentKeyActor | SystemActor | AnonymousActor;

/** The user whose rights bound this actor's, or null. */
export function userOf(actor: Actor): ActorUser | null {
  if (actor.kind === 'user') return actor.user;
  if (actor.kind === 'agent_key') return actor.owner;
  return null;
}
