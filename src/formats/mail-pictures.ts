import { Parser } from 'htmlparser2';
import { declaredSize } from './html-blocks.ts';
import { pictureSize } from './picture-size.ts';

/** Pictures that a mail carries for its own page: larger ones are files beside it, since its text cannot show them; icons are not. */

/** Content ids that a page shows, each with the area that the page gives it, in square pixels; null where it does not say. */
export type ShownPictures = ReadonlyMap<string, number | null>;

/** Logos, spacers and icons of a signature are smaller. */
const iconArea = 150 * 100;

export function shownPictures(html: string): ShownPictures {
  const shown = new Map<string, number | null>();
  const show = (reference: string | undefined, area: number | null): void => {
    const id = /^\s*cid:(.+)$/is.exec(reference ?? '')?.[1];
    if (id === undefined) return;
    const key = contentIdOf(decoded(id));
    const before = shown.get(key);
    shown.set(key, before === undefined ? area : before === null || area === null ? null : Math.max(before, area));
  };
  const tags = {
    onopentag(_tag: string, attributes: Record<string, string>) {
      const { width, height } = declaredSize(attributes);
      show(attributes['src'], width === undefined || height === undefined ? null : width * height);
      show(attributes['background'], null);
      for (const [, reference] of (attributes['style'] ?? '').matchAll(/url\(\s*["']?(cid:[^"')\s]+)/gi)) show(reference, null);
    },
  };
  // Each tag alone: how they lie in each other says nothing here, and deep nesting costs nothing.
  for (const [tag] of html.matchAll(/<[a-z][^<>]*>/gi)) if (/cid:/i.test(tag)) new Parser(tags).end(tag);
  return shown;
}

/** `<a@b>` as the header has it, `a@b` as a page names it. */
export const contentIdOf = (id: string | undefined): string => (id ?? '').trim().replace(/^<|>$/g, '');

/** Whether the page shows so little of it that nobody misses it; `declared` as in ShownPictures. */
export function isIcon(bytes: Uint8Array, declared: number | null): boolean {
  const size = pictureSize(bytes);
  const area = declared ?? (size && size.width * size.height);
  return area !== undefined && area < iconArea;
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
