/** Spreadsheet numbers as a person sees them: the number formats of ECMA-376 part 1, 18.8.30, as far as they occur. */

const builtIn: Record<number, string> = {
  1: '0', 2: '0.00', 3: '#,##0', 4: '#,##0.00', 9: '0%', 10: '0.00%', 11: '0.00E+00', 12: '# ?/?', 13: '# ??/??', 14: 'm/d/yyyy', 15: 'd-mmm-yy',
  16: 'd-mmm', 17: 'mmm-yy', 18: 'h:mm AM/PM', 19: 'h:mm:ss AM/PM', 20: 'h:mm', 21: 'h:mm:ss', 22: 'm/d/yyyy h:mm', 37: '#,##0;(#,##0)',
  38: '#,##0;(#,##0)', 39: '#,##0.00;(#,##0.00)', 40: '#,##0.00;(#,##0.00)', 45: 'mm:ss', 46: '[h]:mm:ss', 47: 'mm:ss.0', 48: '##0.0E+0', 49: '@',
};

export const builtInFormat = (id: number): string | undefined => builtIn[id];

const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

interface Token {
  kind: 'literal' | 'date' | 'digits' | 'text' | 'percent' | 'exponent' | 'general' | 'elapsed' | 'meridiem';
  text: string;
}

interface Section {
  tokens: Token[];
  isDate: boolean;
  condition?: (value: number) => boolean;
}

const parsed = new Map<string, Section[]>();

/** The value in that format; `date1904` moves day 0 as old Macintosh workbooks do. */
export function formatCellNumber(value: number, code: string | undefined, date1904 = false): string {
  if (code === undefined || code === '' || /^general$/i.test(code)) return generalNumber(value);
  let sections = parsed.get(code);
  if (!sections) {
    sections = splitSections(code).map(parseSection);
    if (parsed.size < 5_000) parsed.set(code, sections);
  }
  const { section, shown } = chooseSection(sections, value);
  if (!section) return generalNumber(value);
  if (section.isDate) return formatDate(section, value, date1904) ?? generalNumber(value);
  return formatDigits(section, shown);
}

/** A number without a format: up to 15 digits, as files hold 0.30000000000000004 for what was typed as 0.3. */
export const generalNumber = (value: number): string => {
  if (!Number.isFinite(value)) return String(value);
  const rounded = Number(value.toPrecision(15));
  const isExtreme = Math.abs(rounded) >= 1e15 || (rounded !== 0 && Math.abs(rounded) < 1e-9);
  return isExtreme ? rounded.toExponential().toUpperCase() : trimNumber(rounded);
};

const trimNumber = (value: number): string => {
  const text = String(value);
  return /e/i.test(text) ? value.toFixed(15).replace(/\.?(?<!0)0+$/, '') : text;
};

function splitSections(code: string): string[] {
  const sections: string[] = [];
  let current = '';
  for (let at = 0; at < code.length; at++) {
    const char = code[at]!;
    if (char === '\\') current += char + (code[++at] ?? '');
    else if (char === '"') {
      const end = code.indexOf('"', at + 1);
      current += code.slice(at, end < 0 ? undefined : end + 1);
      at = end < 0 ? code.length : end;
    } else if (char === ';') {
      sections.push(current);
      current = '';
    } else current += char;
  }
  sections.push(current);
  return sections;
}

function parseSection(code: string): Section {
  const tokens: Token[] = [];
  let condition: Section['condition'];
  const literal = (text: string) => {
    const last = tokens.at(-1);
    if (last?.kind === 'literal') last.text += text;
    else tokens.push({ kind: 'literal', text });
  };
  for (let at = 0; at < code.length; ) {
    const rest = code.slice(at, at + 200);
    const take = (pattern: RegExp) => pattern.exec(rest)?.[0];
    let piece: string | undefined;
    if ((piece = take(/^"[^"]*"?/))) literal(piece.replaceAll('"', ''));
    else if ((piece = take(/^\\./s))) literal(piece[1]!);
    else if ((piece = take(/^_./s))) literal(' ');
    else if ((piece = take(/^\*./s))) literal('');
    else if ((piece = take(/^\[(h+|m+|s+)\]/i))) tokens.push({ kind: 'elapsed', text: piece.slice(1, -1).toLowerCase() });
    else if ((piece = take(/^\[[^\]]*\]/))) {
      const limit = /^\[(<=|>=|<>|<|>|=)(-?[\d.]+)\]$/.exec(piece);
      if (limit) condition = conditionOf(limit[1]!, Number(limit[2]));
      else if (piece.startsWith('[$')) literal(piece.slice(2, -1).split('-')[0]!);
    } else if ((piece = take(/^general/i))) tokens.push({ kind: 'general', text: piece });
    else if ((piece = take(/^(am\/pm|a\/p)/i))) tokens.push({ kind: 'meridiem', text: piece });
    else if ((piece = take(/^(y+|m+|d+|h+|s+(\.0+)?|e+(?![+-])|b+|g+)/i)) && !/^e/i.test(piece)) tokens.push({ kind: 'date', text: piece.toLowerCase() });
    else if ((piece = take(/^e[+-]0+/i))) tokens.push({ kind: 'exponent', text: piece });
    else if ((piece = take(/^[0#?.,]+/))) tokens.push({ kind: 'digits', text: piece });
    else if ((piece = take(/^%/))) tokens.push({ kind: 'percent', text: piece });
    else if ((piece = take(/^@/))) tokens.push({ kind: 'text', text: piece });
    else literal((piece = rest[0]!));
    at += piece.length;
  }
  const isDate = tokens.some(({ kind }) => kind === 'date' || kind === 'elapsed' || kind === 'meridiem');
  return { tokens: isDate ? withoutTimeDots(tokens) : tokens, isDate, condition };
}

/** In a date, dots and commas are only signs between its parts. */
const withoutTimeDots = (tokens: Token[]): Token[] => tokens.map((token) => (token.kind === 'digits' && /^[.,]+$/.test(token.text) ? { kind: 'literal', text: token.text } : token));

function conditionOf(operator: string, limit: number): (value: number) => boolean {
  switch (operator) {
    case '<': return (value) => value < limit;
    case '<=': return (value) => value <= limit;
    case '>': return (value) => value > limit;
    case '>=': return (value) => value >= limit;
    case '<>': return (value) => value !== limit;
    default: return (value) => value === limit;
  }
}

/** Positive; negative; zero; text: the negative part brings its own sign. */
function chooseSection(sections: Section[], value: number): { section: Section | undefined; shown: number } {
  if (sections.some(({ condition }) => condition)) {
    const section = sections.find(({ condition }) => !condition || condition(value));
    return { section, shown: value };
  }
  if (value < 0 && sections.length > 1) return { section: sections[1], shown: -value };
  if (value === 0 && sections.length > 2) return { section: sections[2], shown: value };
  return { section: sections[0], shown: value };
}

/** `1234567` as `1,234,567`; what is written with an exponent stays. */
function groupThousands(digits: string): string {
  if (/\D/.test(digits)) return digits;
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return groups.join(',');
}

function formatDigits({ tokens }: Section, value: number): string {
  const percents = tokens.filter(({ kind }) => kind === 'percent').length;
  const pattern = tokens.filter(({ kind }) => kind === 'digits').map(({ text }) => text).join('');
  if (pattern === '') {
    return tokens.map(({ kind, text }) => (kind === 'literal' || kind === 'percent' ? text : kind === 'general' || kind === 'text' ? generalNumber(value) : '')).join('').trim();
  }
  // Commas behind the last digit divide by a thousand each.
  const scale = /[0#?](,+)(?:\.|$)/.exec(pattern)?.[1]?.length ?? 0;
  const scaled = (value * 100 ** percents) / 1_000 ** scale;
  if (tokens.some(({ kind, text }) => kind === 'literal' && text.includes('/')) && /[?#]/.test(pattern)) return formatFraction(tokens, scaled) ?? generalNumber(value);
  const dot = pattern.indexOf('.');
  const decimals = dot < 0 ? '' : pattern.slice(dot + 1).replace(/[^0#?]/g, '');
  const exponent = tokens.find(({ kind }) => kind === 'exponent');
  let body: string;
  if (exponent) {
    body = scaled.toExponential(Math.min(20, decimals.length)).toUpperCase().replace(/E([+-])(\d+)/, (_, sign: string, digits: string) => `E${sign}${digits.padStart(exponent.text.replace(/[^0]/g, '').length, '0')}`);
  } else {
    const fixed = roundedFixed(Math.abs(scaled), Math.min(20, decimals.length));
    let [whole = '0', fraction = ''] = fixed.split('.');
    // A `#` shows no zero at the end.
    while (fraction.length > 0 && decimals[fraction.length - 1] !== '0' && fraction.endsWith('0')) fraction = fraction.slice(0, -1);
    const least = (dot < 0 ? pattern : pattern.slice(0, dot)).replace(/[^0]/g, '').length;
    whole = whole === '0' && least === 0 ? '' : whole.padStart(least, '0');
    if (/[0#?],[0#?]/.test(dot < 0 ? pattern : pattern.slice(0, dot))) whole = groupThousands(whole);
    body = (scaled < 0 && Number(fixed) !== 0 ? '-' : '') + whole + (fraction === '' ? '' : `.${fraction}`);
    if (body === '' || body === '-') body = '0';
  }
  let placed = false;
  const text = tokens.map((token) => {
    if (token.kind === 'digits' || token.kind === 'exponent') {
      if (placed) return '';
      placed = true;
      return body;
    }
    return token.kind === 'literal' || token.kind === 'percent' ? token.text : '';
  });
  return text.join('').replace(/\s+/g, ' ').trim();
}

/** `# ?/?` and the like: 0.75 as 3/4, 2.5 as 2 1/2. Undefined when the format is something else. */
function formatFraction(tokens: readonly Token[], value: number): string | undefined {
  const code = tokens.map(({ text }) => text).join('');
  const parts = /(?<![#0?])([#0?]+ +)?([#0?]+) ?\/ ?([#0?]+|[1-9]\d{0,3})/.exec(code);
  if (parts === null) return undefined;
  const [found, wholePart, , below = ''] = parts;
  const size = Math.abs(value);
  const whole = wholePart === undefined ? 0 : Math.floor(size);
  const rest = size - whole;
  const fixed = Number(below);
  let [top, bottom] = [Math.round(rest), 1];
  // Up to as many digits as there are places; four places would be decimals in disguise.
  const [from, to] = /^[1-9]/.test(below) ? [fixed, fixed] : [1, 10 ** Math.min(3, below.length) - 1];
  for (let each = from; each <= to; each++) {
    const near = Math.round(rest * each);
    if (each === from || Math.abs(near / each - rest) < Math.abs(top / bottom - rest) - 1e-12) [top, bottom] = [near, each];
  }
  const isWhole = top === bottom && wholePart !== undefined;
  const shown = wholePart === undefined ? `${top}/${bottom}` : [whole + (isWhole ? 1 : 0) || (top === 0 || isWhole ? '0' : ''), top === 0 || isWhole ? '' : `${top}/${bottom}`].filter((part) => part !== '').join(' ');
  return ((value < 0 && (top > 0 || whole > 0) ? '-' : '') + code.replace(found, () => shown)).replace(/\s+/g, ' ').trim();
}

/** Rounded half away from zero on the decimal digits a person sees (1.005 → 1.01). */
function roundedFixed(value: number, decimals: number): string {
  if (value >= 1e21) return BigInt(Math.round(value)).toString();
  const nudged = Number(`${Number(value.toPrecision(15))}`);
  const fixed = nudged.toFixed(decimals);
  const up = (nudged + 10 ** -(decimals + 13)).toFixed(decimals);
  return Math.abs(Number(up) - nudged) <= Math.abs(Number(fixed) - nudged) + 1e-12 ? up : fixed;
}

function formatDate({ tokens }: Section, value: number, date1904: boolean): string | undefined {
  if (value < 0 || value > 2_958_466) return undefined;
  const finest = tokens.some(({ kind, text }) => kind === 'date' && text.includes('.')) ? 1_000 : 1;
  const totalSeconds = Math.round(value * 86_400 * finest) / finest;
  const serialDay = Math.floor(totalSeconds / 86_400);
  const secondsOfDay = totalSeconds - serialDay * 86_400;
  // Day 60 is the 29 February 1900 that never was.
  const day = date1904 ? serialDay + 1_462 : serialDay;
  const date = new Date(Date.UTC(1899, 11, 30 + (day < 60 ? day + 1 : day)));
  const hours = Math.floor(secondsOfDay / 3_600);
  const minutes = Math.floor(secondsOfDay / 60) % 60;
  const seconds = secondsOfDay % 60;
  const twelve = tokens.some(({ kind }) => kind === 'meridiem');
  const padTo = (number: number, text: string) => String(number).padStart(Math.min(2, text.length), '0');
  let last = '';
  return tokens
    .map(({ kind, text }, index) => {
      if (kind === 'literal') return text;
      if (kind === 'meridiem') return text.length > 3 ? (hours < 12 ? 'AM' : 'PM') : hours < 12 ? 'A' : 'P';
      if (kind === 'elapsed') {
        last = text[0]!;
        const total = text[0] === 'h' ? totalSeconds / 3_600 : text[0] === 'm' ? totalSeconds / 60 : totalSeconds;
        return String(Math.floor(total)).padStart(text.length, '0');
      }
      if (kind !== 'date') return '';
      const unit = text[0]!;
      // m is minutes behind hours or before seconds, months everywhere else.
      const next = tokens.slice(index + 1).find((token) => token.kind === 'date' || token.kind === 'elapsed');
      const isMinutes = unit === 'm' && text.length <= 2 && (last === 'h' || (next?.kind === 'date' && next.text.startsWith('s')));
      last = unit;
      switch (unit) {
        case 'y': return text.length <= 2 ? String(date.getUTCFullYear() % 100).padStart(2, '0') : String(date.getUTCFullYear());
        case 'd': return text.length <= 2 ? padTo(date.getUTCDate(), text) : text.length === 3 ? days[date.getUTCDay()]!.slice(0, 3) : days[date.getUTCDay()]!;
        case 'h': return padTo(twelve ? hours % 12 || 12 : hours, text);
        case 's': return text.includes('.') ? seconds.toFixed(text.length - text.indexOf('.') - 1).padStart(text.length, '0') : padTo(Math.floor(seconds), text);
        case 'm':
          if (isMinutes) return padTo(minutes, text);
          if (text.length <= 2) return padTo(date.getUTCMonth() + 1, text);
          return text.length === 3 ? months[date.getUTCMonth()]!.slice(0, 3) : text.length === 5 ? months[date.getUTCMonth()]![0]! : months[date.getUTCMonth()]!;
        default: return '';
      }
    })
    .join('')
    .replace(/\s+/g, ' ')
    .trim();
}
