import type { FastifyInstance, RouteOptions } from 'fastify';

export interface RegisteredRoute {
  method: string;
  /** Template, such as /api/v1/documents/:id. */
  url: string;
  schema: RouteOptions['schema'];
}

/** Every route that was registered: for 405 answers, and for the tests that walk all of them. */
export interface RouteRegistry {
  routes(): readonly RegisteredRoute[];
  /** The methods that the path of this address takes; empty when there is no such path. */
  methodsOf(address: string): string[];
}

/** Call before the first route is registered. */
export function createRouteRegistry(app: FastifyInstance): RouteRegistry {
  const routes: RegisteredRoute[] = [];
  const patterns = new Map<string, RegExp>();
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) routes.push({ method, url: route.url, schema: route.schema });
    // `*` takes whatever is left: it is no path of its own.
    if (!route.url.includes('*')) patterns.set(route.url, patternOf(route.url));
  });
  return {
    routes: () => routes,
    methodsOf(address) {
      const path = address.split('?', 1)[0] ?? '';
      const urls = new Set([...patterns].filter(([, pattern]) => pattern.test(path)).map(([url]) => url));
      return [...new Set(routes.filter((route) => urls.has(route.url)).map((route) => route.method))].sort();
    },
  };
}

function patternOf(url: string): RegExp {
  const parts = url.split(/:[A-Za-z]+(?:\([^)]*\))?/);
  return new RegExp(`^${parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^/]+')}$`);
}
