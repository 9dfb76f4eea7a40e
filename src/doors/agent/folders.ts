import { z } from 'zod';
import type { Scope } from '../../search/types.ts';
import type { KeyFolders } from './ports.ts';
import { cleanLine, cutAtGrapheme } from './text.ts';
import { Refusal, type ToolCall } from './tool.ts';

/** Folder names that are written out in a description or a sentence; past that the list ends with … */
const MAX_LISTED = 20;
const MAX_NAMES = 100;

const WRONG_LIST = '`folders` must be a list of folder names';

export const folderNames = z
  .array(z.string({ error: WRONG_LIST }), { error: WRONG_LIST })
  .max(MAX_NAMES, { error: `\`folders\` takes at most ${MAX_NAMES} names` })
  .nullish();

/** The `folders` argument in the input schema; `verb` is what the tool does with them. */
export function describeFolders(verb: 'search' | 'list', folders: KeyFolders) {
  const description =
    folders.names.length === 0
      ? 'This key reads single files, not folders — leave this out.'
      : `Only ${verb} these folders, by name: ${listNames(folders.names)} — or any folder inside them, by its own name`;
  return { type: 'array', items: { type: 'string' }, description };
}

/** The scope of a call. An empty list means all, like none. Throws Refusal naming what can be used instead. */
export async function chooseScope(call: ToolCall, names: readonly string[] | null | undefined): Promise<Scope> {
  const asked = names && names.length > 0 ? names : null;
  const choice = await call.ports.chooseFolders(call.actor, asked);
  if ('scope' in choice) return choice.scope;
  throw new Refusal(describeUnknownFolder(choice.unknown, await call.ports.listFolders(call.actor)));
}

export function describeUnknownFolder(name: string, folders: KeyFolders): string {
  const shown = shorten(name);
  if (folders.names.length === 0)
    return `No folder named '${shown}' here — this key reads single files, not folders. Leave folders out.`;
  const inside = folders.inside.length === 0 ? '' : ` — or a folder inside them: ${listNames(folders.inside)}`;
  return `No folder named '${shown}' here. Use one of: ${listNames(folders.names)}${inside}`;
}

function listNames(names: readonly string[]): string {
  const distinct = [...new Set(names.map(cleanLine))];
  return distinct.length > MAX_LISTED ? `${distinct.slice(0, MAX_LISTED).join(', ')}, …` : distinct.join(', ');
}

/** What the caller sent, fit to be sent back: one line, at most as long as a folder's name may be. */
function shorten(name: string): string {
  const line = cleanLine(name.slice(0, 1000));
  const cut = cutAtGrapheme(line, 120);
  return cut.length < line.length ? `${cut}…` : cut;
}
