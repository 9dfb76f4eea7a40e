import type { FastifyInstance } from 'fastify';
import type { McpDoor } from '../../src/doors/mcp/types.ts';
import { createAgentApp } from './agent-client.ts';
import { AGENT_KEY, createFakePorts, type FakeDocument } from './fake-library.ts';
import { createSampleLibrary } from './sample-library.ts';

export const AUTHORIZATION = `Bearer ${AGENT_KEY}`;

export interface ListeningDoor {
  /** Such as `http://127.0.0.1:41233/mcp`. */
  url: string;
  app: FastifyInstance;
}

const documents: FakeDocument[] = [
  {
    id: 'xM5gW8NZ',
    name: 'IEO2023_Release_Presentation.pptx',
    folder: 3,
    type: 'pptx',
    pages: Array.from({ length: 27 }, (_, at) => ({
      text: `Slide ${at + 1}: electric vehicle sales`,
      toView: at % 3 === 0,
    })),
  },
];

/** The real endpoint and the real agent door over a library in memory, listening on a free loopback port. */
export async function startListeningDoor(wrap?: (door: McpDoor) => McpDoor): Promise<ListeningDoor> {
  const app = await createAgentApp(createFakePorts(createSampleLibrary(documents)).ports, wrap);
  return { url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp`, app };
}
