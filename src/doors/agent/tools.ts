import { listDocuments } from './list-documents.ts';
import { readDocument } from './read-document.ts';
import { search } from './search.ts';
import type { AgentTool } from './tool.ts';
import { viewPage } from './view-page.ts';

/** The tools of an agent key, in the order in which `tools/list` names them. */
export const AGENT_TOOLS: readonly AgentTool[] = [search, listDocuments, readDocument, viewPage];
