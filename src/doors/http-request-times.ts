import type { Metric, Registry } from 'prom-client';

const BOUNDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

interface Times {
  labels: { method: string; route: string; status: number };
  /** One for each bound and one for what is slower than all of them; not cumulative. */
  counts: number[];
  sum: number;
}

/**
 * How long requests took, as a histogram of prom-client's shape. It is counted here because prom-client's own copies, checks and
 * hashes the labels of every single request, which costs more than all that a small call does with its audit row's text.
 */
export function createRequestTimes(registry: Registry, name: string, help: string): { observe(method: string, route: string, status: number, seconds: number): void } {
  const times = new Map<string, Times>();
  const asMetric = async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: [...times.values()].flatMap((one) => valuesOf(name, one)) });
  registry.registerMetric({ name, help, get: asMetric, reset: () => times.clear() } as unknown as Metric);
  return {
    observe(method, route, status, seconds) {
      const key = `${method} ${route} ${status}`;
      let known = times.get(key);
      if (known === undefined) times.set(key, (known = { labels: { method, route, status }, counts: Array.from({ length: BOUNDS.length + 1 }, () => 0), sum: 0 }));
      let at = 0;
      while (at < BOUNDS.length && seconds > BOUNDS[at]!) at += 1;
      known.counts[at]! += 1;
      known.sum += seconds;
    },
  };
}

function valuesOf(name: string, { labels, counts, sum }: Times) {
  let total = 0;
  const buckets = counts.map((count, at) => {
    total += count;
    return { metricName: `${name}_bucket`, labels: { le: BOUNDS[at] ?? '+Inf', ...labels }, value: total };
  });
  return [...buckets, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: total }];
}
