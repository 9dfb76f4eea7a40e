/**
 * `npm run bench:mcp`: requests a second of Sergo's agent door, key look-up and audit log included, beside a minimal server
 * on the official SDK v2 that has neither. Both get the same requests in turns and answer the same content. Prints a table;
 * the last line is JSON. Ends with 1 when a target is missed (issue 2: a small tools/call 2 times, tools/list 3 times).
 */
import autocannon from 'autocannon';
import { headersFor, sendOnce, writeRequests, type BenchRequest } from './mcp-requests.ts';
import { startSergoTarget, startTarget, type Target, type Yardstick } from './mcp-target.ts';

const ROUNDS = 3;
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
/** A few agents at once, and a crowd: a durable audit row costs less the more calls share its sync. */
const CONNECTIONS = [8, 32];
const AT_LEAST = { 'tools/call': 2, 'tools/list': 3 };

interface Figures {
  perSecond: number[];
  p50Ms: number[];
  p99Ms: number[];
}

async function measure(
  request: BenchRequest,
  target: Target,
  seconds: number,
  connections: number,
): Promise<{ perSecond: number; p50Ms: number; p99Ms: number }> {
  const run = await autocannon({
    url: target.url,
    method: 'POST',
    headers: headersFor(request, target),
    body: request.body,
    connections,
    duration: seconds,
  });
  if (run.non2xx > 0 || run.errors > 0)
    throw new Error(`${request.name} at ${target.url}: ${run.non2xx} refusals, ${run.errors} errors`);
  return { perSecond: run.requests.average, p50Ms: run.latency.p50, p99Ms: run.latency.p99 };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function describeFigures({ perSecond, p50Ms, p99Ms }: Figures): string {
  const range = `${Math.round(Math.min(...perSecond))}-${Math.round(Math.max(...perSecond))}`;
  return `${Math.round(median(perSecond))} (${range}), p50 ${median(p50Ms)} ms, p99 ${median(p99Ms)} ms`;
}

const sergo = await startSergoTarget();
const requests = writeRequests(sergo.documentId);
const [call, , list] = requests as [BenchRequest, BenchRequest, BenchRequest];
const { content } = (await sendOnce(call, sergo)) as { content: [{ text: string }] };
const { tools } = (await sendOnce(list, sergo)) as unknown as Yardstick;
const sdk = await startTarget(
  'mcp-sdk-server.ts',
  JSON.stringify({ tools, text: content[0].text } satisfies Yardstick),
);

try {
  console.log(
    `requests a second, median (range) of ${ROUNDS} interleaved runs of ${SECONDS} s\n`,
  );
  console.log('| request | connections | Sergo (key, audit) | SDK v2 (neither) | ratio | target |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  const ratios: Record<string, number> = {};
  // Both have just started: their code is compiled while they answer.
  for (const request of requests) for (const target of [sergo, sdk]) await measure(request, target, 2, 32);
  for (const request of requests) for (const connections of CONNECTIONS) {
    const figures: Record<'sergo' | 'sdk', Figures> = { sergo: emptyFigures(), sdk: emptyFigures() };
    for (const target of [sergo, sdk]) {
      await sendOnce(request, target);
      await measure(request, target, 2, connections);
    }
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, target] of [
        ['sergo', sergo],
        ['sdk', sdk],
      ] as const) {
        const run = await measure(request, target, SECONDS, connections);
        for (const key of ['perSecond', 'p50Ms', 'p99Ms'] as const) figures[name][key].push(run[key]);
      }
    }
    const ratio = median(figures.sergo.perSecond) / median(figures.sdk.perSecond);
    ratios[`${request.name}, ${connections}`] = Number(ratio.toFixed(2));
    const target = AT_LEAST[request.method];
    const verdict = ratio >= target ? 'met' : 'MISSED';
    if (ratio < target) process.exitCode = 1;
    console.log(
      `| ${request.name} | ${connections} | ${describeFigures(figures.sergo)} | ${describeFigures(figures.sdk)} | ${ratio.toFixed(2)} | ≥ ${target}: ${verdict} |`,
    );
  }
  console.log(JSON.stringify({ bench: 'mcp', ratios }));
} finally {
  await sergo.stop();
  await sdk.stop();
}

function emptyFigures(): Figures {
  return { perSecond: [], p50Ms: [], p99Ms: [] };
}
