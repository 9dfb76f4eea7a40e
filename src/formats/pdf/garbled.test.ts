import { expect, test } from 'vitest';
import { isGarbled } from './garbled.ts';

const english =
  'The purpose of this report is to describe how the committee reached its decision and which further steps have to be taken before the end of the year.';
const shift = (text: string, by: number): string => Array.from(text, (c) => (c === ' ' ? c : String.fromCharCode(c.charCodeAt(0) + by))).join('');

const fine: [string, string][] = [
  ['English', english],
  ['German', 'Die Straßenverkehrszulassungsordnung regelt, welche Fahrzeuge auf öffentlichen Straßen gefahren werden dürfen und wer sie prüft.'],
  ['Polish', 'Wszyscy ludzie rodzą się wolni i równi w swojej godności i prawach. Są obdarzeni rozumem i sumieniem i powinni postępować wobec siebie w duchu braterstwa.'],
  ['Finnish', 'Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu järki ja omatunto, ja heidän on toimittava toisiaan kohtaan.'],
  ['Welsh', 'Genir pawb yn rhydd ac yn gydradd â’i gilydd mewn urddas a hawliau. Fe’u cynysgaeddir â rheswm a chydwybod, a dylai pawb ymddwyn y naill at y llall mewn ysbryd cymodlon.'],
  ['Vietnamese', 'Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều được tạo hóa ban cho lý trí và lương tâm.'],
  ['Japanese', 'すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。'],
  ['Arabic', 'يولد جميع الناس أحراراً متساوين في الكرامة والحقوق'],
  ['a table of part numbers', 'KZX-4471 BQR-0092 XJ900 TTF-12 PDQ-8 '.repeat(12)],
  ['a table of figures', '12.4 88.1 0.003 1,204 77 % 12.4 88.1 0.003 1,204 '.repeat(6)],
  ['a few letters', 'xqzkw'],
];
for (const [name, text] of fine) test(`not garbled: ${name}`, () => expect(isGarbled(text)).toBe(false));

const noise: [string, string][] = [
  ['private use', '\ue012\ue013\ue044 \ue011\ue012\ue020\ue021\ue022'],
  ['control characters', '\u0003\u0004\u0011\u0012\u0005\u0006\u0007\u000e\u000f\u0010abc'],
  ['glyph numbers of an embedded subset', shift(english, -29)],
  ['letters moved by three', shift(english.toLowerCase(), 3)],
  ['replacement characters', '\ufffd\ufffd\ufffdab\ufffd\ufffdcd\ufffd\ufffd'],
];
for (const [name, text] of noise) test(`garbled: ${name}`, () => expect(isGarbled(text)).toBe(true));
