import type { ApiClient, Json } from './api-client.ts';

export interface AgentCalls {
  /** The JSON of the first text block; throws with the sentence where the tool answered an error. */
  json(tool: string, args: object): Promise<Json>;
  /** The result as it is. */
  result(tool: string, args: object): Promise<Json>;
}

/** The tools of an agent key over one folder, as an MCP client without a library would call them. */
export async function agentOver(admin: ApiClient, folderId: string, name = 'reader'): Promise<AgentCalls> {
  const made = await admin.post('/keys', { kind: 'agent', name, description: 'For a test', folderIds: [folderId], documentIds: [] });
  const authorization = `Bearer ${made.body.key}`;
  const result = async (tool: string, args: object): Promise<Json> => {
    const answer = await fetch(`${admin.url}/mcp`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args } }),
    });
    return ((await answer.json()) as Json).result;
  };
  return {
    result,
    async json(tool, args) {
      const { content, isError } = await result(tool, args);
      if (isError) throw new Error(content[0].text);
      return JSON.parse(content[0].text);
    },
  };
}
