import multipart from '@fastify/multipart';
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { addAuthentication } from './authentication.ts';
import { addAuditRoutes } from './audit-routes.ts';
import { addCrossOrigin } from './cross-origin.ts';
import type { ConsoleDeps } from './deps.ts';
import { addDocumentRoutes } from './document-routes.ts';
import { addEventRoutes } from './event-routes.ts';
import { addFolderRoutes } from './folder-routes.ts';
import { addGrantRoutes } from './grant-routes.ts';
import { addHealthRoutes } from './health-routes.ts';
import { addJobRoutes } from './job-routes.ts';
import { addJudgedRoutes } from './judged-routes.ts';
import { addKeyRoutes } from './key-routes.ts';
import { openApiObject, openApiTransform } from './openapi.ts';
import { addPageRoutes } from './page-routes.ts';
import { addPeopleRoutes } from './people-routes.ts';
import { createProgressWatch } from './progress-watch.ts';
import { addReplayRoutes } from './replay-routes.ts';
import { addSearchRoutes } from './search-routes.ts';
import { addSessionRoutes } from './session-routes.ts';
import { addSetupRoutes } from './setup-routes.ts';
import { addTrashRoutes } from './trash-routes.ts';
import { addUploadRoutes } from './upload-routes.ts';

const RESOURCES = [
  addSetupRoutes,
  addSessionRoutes,
  addFolderRoutes,
  addUploadRoutes,
  addDocumentRoutes,
  addPageRoutes,
  addTrashRoutes,
  addSearchRoutes,
  addJudgedRoutes,
  addKeyRoutes,
  addGrantRoutes,
  addPeopleRoutes,
  addJobRoutes,
  addEventRoutes,
  addAuditRoutes,
  addReplayRoutes,
  addHealthRoutes,
];

/** The console's API, also for personal keys: everything under `/api/v1` (DESIGN.md section 7). */
export async function registerConsoleDoor(server: FastifyInstance, deps: ConsoleDeps): Promise<void> {
  await server.register(
    async (scope) => {
      scope.setSerializerCompiler(serializerCompiler);
      addCrossOrigin(scope);
      addAuthentication(scope, deps);
      await scope.register(swagger, {
        openapi: {
          openapi: '3.1.0',
          info: {
            title: 'Sergo',
            version: deps.version,
            description: 'The library: folders, documents, pages, search, keys, people, audit.',
          },
          servers: [{ url: deps.publicUrl }],
          components: {
            securitySchemes: {
              bearer: { type: 'http', scheme: 'bearer', description: 'A login token or a personal key (sgk_p_…)' },
            },
          },
          security: [{ bearer: [] }],
        },
        transform: openApiTransform,
        transformObject: openApiObject,
      });
      await scope.register(multipart, { throwFileSizeLimit: false });
      const routeDeps = { ...deps, progress: createProgressWatch(deps) };
      for (const add of RESOURCES) add(scope.withTypeProvider<ZodTypeProvider>(), routeDeps);
      scope.get(
        '/openapi.json',
        {
          config: { public: true },
          schema: { summary: 'This document', tags: ['about'], response: { 200: z.record(z.string(), z.unknown()) } },
        },
        (_request, reply) =>
          reply.type('application/json; charset=utf-8').serializer(JSON.stringify).send(scope.swagger()),
      );
    },
    { prefix: '/api/v1' },
  );
}
