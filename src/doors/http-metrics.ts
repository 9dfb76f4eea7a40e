import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { createRequestTimes } from './http-request-times.ts';

/** A figure that is read when somebody asks for /metrics: queue depth, free bytes, … */
export interface MetricSource {
  name: string;
  help: string;
  read(): Promise<number>;
}

export interface HttpMetrics {
  /** `route` is the template, never the address: ids are not labels. */
  observe(method: string, route: string, status: number, seconds: number): void;
  authFailure(): void;
  /** Prometheus text format. */
  text(): Promise<string>;
  contentType: string;
}

export function createHttpMetrics(sources: readonly MetricSource[] = []): HttpMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = createRequestTimes(
    registry,
    'sergo_http_request_seconds',
    'Time from the first byte of a request to the last of its answer',
  );
  const failures = new Counter({
    name: 'sergo_auth_failures_total',
    help: 'Requests with a wrong key, token or password',
    registers: [registry],
  });
  for (const source of sources) {
    new Gauge({
      name: source.name,
      help: source.help,
      registers: [registry],
      // A figure that cannot be read is left as it was: /metrics must answer when something is broken.
      async collect() {
        await source.read().then(
          (value) => this.set(value),
          () => undefined,
        );
      },
    });
  }
  return {
    observe: requests.observe,
    authFailure: () => failures.inc(),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
