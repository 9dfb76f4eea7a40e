import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

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
  const requests = new Histogram({
    name: 'sergo_http_request_seconds',
    help: 'Time from the first byte of a request to the last of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  const bound = new Map<string, ReturnType<typeof requests.labels>>();
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
    observe(method, route, status, seconds) {
      // Finding a histogram by its labels costs more than counting in it, and there are few of them.
      const name = `${method} ${route} ${status}`;
      let known = bound.get(name);
      if (!known) bound.set(name, (known = requests.labels({ method, route, status })));
      known.observe(seconds);
    },
    authFailure: () => failures.inc(),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
