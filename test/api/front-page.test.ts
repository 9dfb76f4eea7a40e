import { expect, it } from 'vitest';
import { openDoors } from '../isolation/doors.ts';

it('the address alone says what is here, to anybody and of nobody', async () => {
  const doors = await openDoors();
  try {
    const ask = (method: 'GET' | 'HEAD' | 'POST', headers = {}) => doors.app.inject({ method, url: '/', headers: { host: '127.0.0.1:8080', ...headers } });
    const answer = await ask('GET', { accept: 'text/html' });
    expect([answer.statusCode, answer.headers['content-type'], answer.headers['x-content-type-options']]).toEqual([200, 'text/plain; charset=utf-8', 'nosniff']);
    for (const path of ['/mcp', '/api/v1', '/api/v1/openapi.json', 'docs/']) expect(answer.body).toContain(path);
    expect(answer.body).not.toMatch(/\d+\.\d+|node|fastify/i);
    expect((await ask('HEAD')).statusCode).toBe(200);
    expect((await ask('POST')).statusCode).toBe(405);
    // As anywhere, only under the names of this server.
    expect((await doors.app.inject({ url: '/', headers: { host: 'evil.example' } })).statusCode).toBe(403);
  } finally {
    await doors.close();
  }
});
