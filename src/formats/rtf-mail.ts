import iconv from 'iconv-lite';

/** What a mail's RTF body says: Outlook stores some mails in no other form. Formatting is left out, links keep where they lead. */
export interface RtfBody {
  /** The web page that the mail was before it was wrapped into RTF (MS-OXRTFEX). */
  html?: string;
  text?: string;
}

/** Groups without text of their own (RTF 1.9.1, destinations); those that begin with `\*` are left out as well, but for the two below. */
const silent = new Set(['fonttbl', 'colortbl', 'stylesheet', 'info', 'pict', 'object', 'header', 'footer', 'headerl', 'headerr', 'footerl', 'footerr', 'filetbl', 'revtbl', 'listtable', 'listoverridetable', 'themedata']);
const signs: Record<string, string> = {
  par: '\n', line: '\n', sect: '\n', page: '\n', row: '\n', cell: ' | ', tab: '\t', lquote: '‘', rquote: '’', ldblquote: '“', rdblquote: '”', bullet: '•', endash: '–', emdash: '—', '~': '\u00a0', _: '-', '-': '\u00ad',
};
const token = /\\([a-z]+)(-?\d+)? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/gi;

interface Group {
  skip: boolean;
  /** `\*\fldinst`: where a link leads. */
  link: boolean;
  /** `\*\htmltag`: a piece of the web page as it was. */
  tag: boolean;
  /** `\htmlrtf`: formatting that only RTF needs. */
  rtfOnly: boolean;
  /** Characters that stand for those who cannot read a `\u`. */
  fallback: number;
  result: boolean;
}

export function readRtfBody(rtf: string): RtfBody {
  const isHtml = /^\{\\rtf1[^{}]*\\fromhtml1/.test(rtf);
  const codePage = `cp${/\\ansicpg(\d+)/.exec(rtf)?.[1] ?? '1252'}`;
  const encoding = iconv.encodingExists(codePage) ? codePage : 'cp1252';
  const stack: Group[] = [];
  let group: Group = { skip: false, link: false, tag: false, rtfOnly: false, fallback: 1, result: false };
  let out = '';
  let instruction = '';
  let bytes: number[] = [];
  let toSkip = 0;
  let isStarred = false;

  const put = (text: string): void => {
    if (group.link) instruction += text;
    else if (group.skip || (isHtml && group.rtfOnly)) return;
    else out += isHtml && !group.tag ? text.replaceAll('&', '&amp;').replaceAll('<', '&lt;') : text;
  };
  const flush = (): void => {
    if (bytes.length > 0) put(iconv.decode(Buffer.from(bytes), encoding));
    bytes = [];
  };
  const word = (name: string, value: string | undefined): void => {
    if (name === 'fldinst') Object.assign(group, { link: true, skip: false });
    else if (name === 'fldrslt') group.result = true;
    else if (name === 'htmltag') Object.assign(group, { tag: true, skip: false });
    else if (silent.has(name) || (isStarred && name !== 'htmltag' && name !== 'fldinst')) group.skip = true;
    else if (name === 'htmlrtf') group.rtfOnly = value !== '0';
    else if (name === 'uc') group.fallback = Number(value ?? 1);
    else if (name === 'u' && value !== undefined) {
      put(String.fromCharCode((Number(value) + 65_536) % 65_536));
      toSkip = group.fallback;
    } else if (signs[name] !== undefined) put(signs[name]);
  };
  const close = (): void => {
    const { result } = group;
    group = stack.pop() ?? group;
    const address = /^\s*HYPERLINK\s+"?([^"\s]+)"?/.exec(instruction)?.[1];
    if (!result || isHtml) return;
    // As in a plain mail: the words, then where they lead; an address that is its own words stands once.
    if (address !== undefined && !out.trimEnd().endsWith(address.replace(/^mailto:/, ''))) out += ` <${address}>`;
    instruction = '';
  };

  for (const [, name, value, hex, sign, brace, plain] of rtf.matchAll(token)) {
    if (hex !== undefined) {
      if (toSkip > 0) toSkip -= 1;
      else bytes.push(Number.parseInt(hex, 16));
      continue;
    }
    flush();
    if (brace === '{') {
      stack.push(group);
      group = { ...group, result: false };
    } else if (brace === '}') close();
    else if (name !== undefined) word(name.toLowerCase(), value);
    else if (sign === '*') isStarred = true;
    else if (sign !== undefined) put(signs[sign] ?? sign);
    else if (plain !== undefined) {
      put(plain.slice(toSkip));
      toSkip = 0;
    }
    if (sign !== '*') isStarred = false;
  }
  flush();
  return isHtml ? { html: out } : { text: out.trim() };
}
