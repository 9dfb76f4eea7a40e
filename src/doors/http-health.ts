import type { FastifyInstance, FastifyRequest } from 'fastify';
import { timingSafeEqual } from 'node:crypto';
import { AppError } from '../errors.ts';
import { UNKNOWN_PATH } from './http-errors.ts';
import type { HttpMetrics } from './http-metrics.ts';

/** What /readyz looks at: database write, blob folder, free space, migrations, queue age, sandbox mode. No secrets, no versions. */
export interface Readiness {
  ready: boolean;
  checks: Record<string, { ok: boolean; detail?: string }>;
}

export interface HealthDeps {
  readiness(): Promise<Readiness>;
  metrics: HttpMetrics;
  /** Lets a collector on another machine read /metrics with `Authorization: Bearer`. */
  metricsToken?: string;
  isDraining(): boolean;
}

/** `/healthz` (alive, no I/O), `/readyz`, `/metrics` (loopback peers, or the token): trust.md section 6. */
export function registerHealthRoutes(app: FastifyInstance, deps: HealthDeps): void {
  app.get('/healthz', { logLevel: 'silent' }, () => ({ status: 'ok' }));

  app.get('/readyz', { logLevel: 'silent' }, async (request, reply) => {
    const state = deps.isDraining()
      ? { ready: false, checks: { server: { ok: false, detail: 'shutting down' } } }
      : await readinessOf(deps, request);
    return reply
      .code(state.ready ? 200 : 503)
      .send({ status: state.ready ? 'ready' : 'not_ready', checks: state.checks });
  });

  app.get('/metrics', { logLevel: 'silent' }, async (request, reply) => {
    // Who may not read it learns nothing, not even that it is here.
    if (!mayReadMetrics(request, deps.metricsToken)) throw new AppError('not_found', UNKNOWN_PATH);
    return reply.type(deps.metrics.contentType).send(await deps.metrics.text());
  });
}

async function readinessOf(deps: HealthDeps, request: FastifyRequest): Promise<Readiness> {
  try {
    return await deps.readiness();
  } catch (error) {
    request.log.error({ err: error }, 'readiness check failed');
    return { ready: false, checks: { server: { ok: false, detail: 'the check itself failed; see the log' } } };
  }
}

/** A proxy on this machine is a loopback peer as well, so a forwarded request needs the token. */
function mayReadMetrics(request: FastifyRequest, token: string | undefined): boolean {
  const given = /^bearer[ \t]+([^ \t].*)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token !== undefined && given !== undefined) {
    const [a, b] = [Buffer.from(given), Buffer.from(token)];
    return a.length === b.length && timingSafeEqual(a, b);
  }
  const forwarded = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'via'].some(
    (name) => request.headers[name] !== undefined,
  );
  const peer = request.raw.socket.remoteAddress ?? '';
  return !forwarded && (peer === '::1' || peer.replace(/^::ffff:/, '').startsWith('127.'));
}
