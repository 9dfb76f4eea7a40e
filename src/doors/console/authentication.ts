import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { UserActor } from '../../access/actor.ts';
import { authenticateForApi, type RequestFacts } from '../../access/authentication.ts';
import { AppError, httpStatusOf } from '../../errors.ts';
import { allHeaderValues, readSessionCookie } from '../http-cookies.ts';
import { checkSameOrigin } from '../http-same-origin.ts';
import type { ConsoleDeps } from './deps.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is asking; set on every route of the console's API but the public ones. */
    actor: UserActor | null;
  }
  interface FastifyContextConfig {
    /** True for the few calls that need nobody to be signed in. */
    public?: boolean;
  }
}

/** Before the body is read: the page it came from, the credential, the rate. Rights are each service's own affair. */
export function addAuthentication(app: FastifyInstance, deps: ConsoleDeps): void {
  app.decorateRequest('actor', null);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const credentials = credentialsOf(request, deps.publicUrl);
    const byCookie =
      credentials.authorization.length === 0 && credentials.xApiKey.length === 0 && credentials.cookie !== undefined;
    const isPublic = request.routeOptions.config.public === true;
    checkSameOrigin(request, app.hostRules, byCookie && !isPublic);
    if (isPublic) return;
    request.actor = await identify(deps, request);
    deps.limits.takeCall(`${request.actor.user.id} ${request.actor.masked ?? ''}`);
  });
}

/** Who is asking, by this request's credential as it is now: streams ask again while they run. */
export async function identify(deps: ConsoleDeps, request: FastifyRequest): Promise<UserActor> {
  const credentials = credentialsOf(request, deps.publicUrl);
  try {
    return await authenticateForApi(deps.library, credentials, { ...factsOf(request), heldUp: () => deps.limits.heldUp(request.ip) });
  } catch (error) {
    const given = credentials.authorization.length + credentials.xApiKey.length > 0 || credentials.cookie !== undefined;
    if (given && error instanceof AppError && httpStatusOf[error.code] === 401)
      throw deps.limits.badCredential(request.ip, error);
    throw error;
  }
}

export function factsOf(request: FastifyRequest): RequestFacts {
  const endUser = request.headers['x-sergo-end-user'];
  return { requestId: request.id, ...(typeof endUser === 'string' ? { endUser } : {}) };
}

/** The login token or key of this request as its owner sent it, to end exactly that one. */
export function tokenOf(request: FastifyRequest, publicUrl: string): string {
  const header = request.headers.authorization;
  return header === undefined
    ? (readSessionCookie(request.headers.cookie, publicUrl) ?? '')
    : header.replace(/^bearer\s+/i, '').trim();
}

/** Handlers of routes that are not public run only with an actor. */
export function actorOf(request: FastifyRequest): UserActor {
  if (request.actor === null) throw new Error('route handler ran without authentication');
  return request.actor;
}

function credentialsOf(
  request: FastifyRequest,
  publicUrl: string,
): { authorization: string[]; xApiKey: string[]; cookie: string | undefined } {
  const { rawHeaders } = request.raw;
  return {
    authorization: allHeaderValues(rawHeaders, 'authorization'),
    xApiKey: allHeaderValues(rawHeaders, 'x-api-key'),
    cookie: readSessionCookie(request.headers.cookie, publicUrl),
  };
}
