/** The worst queries of trust.md P27: none may be slow or fail, whatever is in the library. */
import { textMaker } from './search-text.ts';

const COMMON = 'the of and to in a is that for it as with was on be by at from this are which or an were their has have had not but';

export function hostileQueries(): Record<string, string> {
  const maker = textMaker(31);
  const queries = Array.from({ length: 3_000 }, () => maker.query());
  const misspelt = (word: string): string => `${word.slice(0, 3)}x${word.slice(4)}q`;
  return {
    '100 kB of words': queries.join(' ').repeat(3).slice(0, 100_000),
    '100 kB without a space': 'a'.repeat(100_000),
    '64 words of the library': queries.join(' ').split(' ').slice(0, 64).join(' '),
    '1,000 quotes': '"a" '.repeat(1_000),
    '1,000 quoted words of the library': queries.slice(0, 1_000).map((query) => `"${query.split(' ')[0]}"`).join(' '),
    'eight quoted phrases of common words': Array.from({ length: 8 }, (_, i) => `"${COMMON.split(' ').slice(i, i + 3).join(' ')}"`).join(' '),
    'a phrase of two words that are everywhere': '"of the"',
    'a quoted common word beside a rare one': `"the" ${maker.rareWords(1)[0]}`,
    'NEAR( and brackets': `NEAR(${queries[0]} NEAR( AND OR NOT ((((`,
    '10,000 stars': '*'.repeat(10_000),
    'stars on every word': queries.slice(0, 20).join(' ').replaceAll(' ', '* '),
    'stars on short starts': 'a* b* c* d* e* f* g* h* st* tr* re* in* co* pr*',
    'stars on part numbers': 'TPS* AEO* GEN* IEO* REV* TPS1* AEO2*',
    'all stop words': COMMON,
    'stop words and one rare word': `${COMMON} ${maker.rareWords(1)[0]}`,
    '20 misspelt words': maker.rareWords(20).map(misspelt).join(' '),
    'nonsense words': 'xqzvbn wqjkrt plmzxy grbnkl mnbvcx lkjhgf',
    '100 kB of Chinese': '水力发电'.repeat(8_000),
    '100 kB of combining marks': `a${'\u0301'.repeat(50_000)}`,
    'half characters and controls': '\ud800\udc00 \ud800 \u0000 \u202e the "of \udfff'.repeat(500),
  };
}
