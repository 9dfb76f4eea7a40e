import type { ReadResult } from '../formats/types.ts';

/** Pages of a picture file (1-based) that are not whole: `partly` there, or `lost` and blank in the copy. */
export type DamagedPages = Map<number, 'partly' | 'lost'>;

/** Of many, so many are named. */
const NAMED = 10;

/** Says which pages are damaged; those that are lost are pages that could not be read. */
export function withDamage(result: ReadResult, damaged: DamagedPages): ReadResult {
  if (damaged.size === 0) return result;
  const pages = result.pages.map((page) => (damaged.get(page.number) === 'lost' ? { ...page, text: '', fate: 'failed' as const, toView: true } : page));
  const sentence = (which: 'partly' | 'lost', what: string): string[] => {
    const numbers = [...damaged].flatMap(([number, damage]) => (damage === which ? [number] : []));
    if (numbers.length === 0) return [];
    const more = numbers.length > NAMED ? ` and ${numbers.length - NAMED} more` : '';
    const subject = result.pages.length === 1 ? 'The picture' : `${numbers.length === 1 ? 'Page' : 'Pages'} ${numbers.slice(0, NAMED).join(', ')}${more}`;
    return [`${subject} ${numbers.length === 1 ? 'is' : 'are'} damaged: ${what} — upload an intact copy to have all of it`];
  };
  const notices = [...sentence('lost', 'nothing of it could be read'), ...sentence('partly', 'its end is missing, what is left is shown')];
  return { ...result, pages, notices: [...(result.notices ?? []), ...notices] };
}
