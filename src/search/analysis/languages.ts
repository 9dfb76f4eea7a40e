/** Languages: which ones are stemmed, their words that carry no meaning, and which one a text is in. */

/** Function words by language. They are indexed like all words; in a query they weigh little, and alone they find nothing. */
const FUNCTION_WORDS: Record<string, string> = {
  en: `a about above after again against all also am an and any are as at be because been before being below between both but by can
    could did do does doing down during each few for from further had has have having he her here hers him his how i if in into is it
    its itself just me more most my no nor not of off on once only or other our out over own same she should so some such than that
    the their them then there these they this those through to too under until up very was we were what when where which while who
    whom why will with would you your`,
  de: `aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei bin bis bist da damit dann das dass daß
    dazu dein dem den denn der des dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen
    einer eines er es etwas für gegen hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja
    jede jedem jeden jeder jedes kann kein keine keinem keinen keiner können könnte man mehr mein mich mir mit muss nach nicht nichts
    noch nun nur ob oder ohne sehr sein seine seinem seinen seiner sich sie sind so soll sollte sondern sonst über um und uns unser
    unter viel vom von vor war waren warum was weil welche welchem welchen welcher welches wenn werden wer wie wieder will wir wird wo
    wurde wurden würde zu zum zur zwar zwischen`,
  fr: `à afin ai ainsi alors au aucun aussi autre aux avant avec avoir avons c ce ceci cela celle celui ces cet cette ceux chaque ci
    comme comment d dans de des donc dont du elle elles en entre est et étaient était être eu fait il ils j je l la le les leur
    leurs lors lui m ma mais me même mes moi mon n ne ni nos notre nous on ont ou où par parce pas pendant peu peut plus pour pourquoi
    qu quand que quel quelle quelles quels qui s sa sans se selon ses si son sont sous sur t ta te tes toi ton tous tout toute toutes
    très tu un une vers vos votre vous y`,
  es: `a al algo algunas algunos ante antes aquel aquella así aún aunque cada como cómo con contra cual cuál cuando cuándo de del desde
    donde dónde dos durante e el él ella ellas ellos en entre era eran es esa esas ese eso esos esta está están estas este esto estos
    fue fueron ha había han hasta hay la las le les lo los más me mi mientras muy nada ni no nos nosotros o os otra otras otro otros
    para pero por porque qué que quien quién se según ser si sí sido sin sobre son su sus también tan tanto te tiene tienen todo todos
    tu tú un una unas uno unos y ya yo`,
  it: `a ad agli ai al all alla alle allo anche ancora avere c che chi ci cioè come con contro cosa cui da dagli dai dal dall dalla dalle
    de degli dei del dell della delle dello dentro di dopo dove e ed è era erano essere fra gli ha hanno i il in io l la le lei li lo
    loro lui ma mentre mi mia mio molto ne negli nei nel nell nella nelle nello noi non nostro o ogni oltre per perché però più poi
    prima qual quale quando quanto quella quelle quelli quello questa queste questi questo qui se sei senza si sia siamo sono sopra sta
    stata stato su sua sue sugli sui sul sulla sulle sullo suo suoi tra tu tutti tutto un una uno vi voi`,
  pt: `a à ao aos aquela aquele aqueles aquilo as às até cada com como contra da das de dela dele deles depois do dos e é ela elas ele
    eles em entre era eram essa essas esse esses esta está estão estas este estes eu foi foram há isso isto já lhe lhes lo mais mas me
    mesmo meu minha muito na não nas nem no nos nós num numa o onde os ou outra outras outro outros para pela pelas pelo pelos por
    porque qual quando que quem são se sem ser seu seus sido só sobre sua suas também tem têm tu um uma umas uns você`,
  nl: `aan al alle als altijd andere ben bij binnen daar dan dat de der deze die dit doch doen door dus een eens en er ge geen gaat had
    hadden heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon kunnen maar me meer men met mij mijn moet na
    naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen tot tussen u uit uw van veel voor waar waarom want
    waren was wat we wel welke werd werden wie wij wil worden wordt zal ze zeer zich zij zijn zo zonder zou`,
  sv: `alla allt än att av blev bli blir de dem den denna deras dess dessa det detta dig din du där då efter ej eller en er ett från för
    ha hade han har henne hennes hon honom hur här i icke in inom inte jag ju kan kunde man med mellan men mig min mot mycket när nu
    något några och om oss på samma sedan sig sin sina sitt ska skulle som så till under upp ut utan vad var vara varför varit vem vi vid
    vilka vilken vilket vår är över`,
  ru: `а без более больше будет будто бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее ей
    ему если есть еще ж же за зачем здесь и из или им их к как какая какой когда кто куда ли между меня мне много может можно мой мы на
    над надо нас не него нее ней нет ни них но ну о об один он она они от перед по под после потом потому почти при про с сам свою себе
    себя сейчас со так такой там тебя тем теперь то тогда того тоже только том тот три тут ты у уж уже чего чем через что чтобы эти этих
    это этого этой этом этот эту я`,
  da: `af alle at blev bliver da de dem den denne der deres det dette dig din disse du efter eller en er et for fra ham han hans har hvad
    hvis hvor hun i ikke ind jeg jer kan kunne man med meget men mig min mod når nu og også om op os over på selv sig sin skal som til
    ud under var ved vi vil vor være været`,
  no: `av alle at ble bli da de dem den denne der deres det dette din disse du eller en er et etter for fra ha hadde han har hun hva hvis
    hvor i ikke inn jeg kan kunne man med meg men mer min mot når nå og også om opp oss over på seg selv sin skal som til under ut var
    ved vi vil være vært`,
  fi: `ja on ei se että hän oli olla ovat niin kuin mutta myös jos tai sen joka mikä kun nyt vain ne he tämä minä sinä me te eivät ole
    sekä ennen jälkeen kanssa mukaan`,
};

const STEMMER_NAMES: Record<string, string> = {
  en: 'english', de: 'german', fr: 'french', es: 'spanish', it: 'italian', pt: 'portuguese', nl: 'dutch', sv: 'swedish', ru: 'russian',
  da: 'danish', no: 'norwegian', fi: 'finnish', hu: 'hungarian', ro: 'romanian', tr: 'turkish', cs: 'czech',
};

/** Recognised by their script or their letters, and neither stemmed nor known by function words. */
const OTHER_LANGUAGES = ['pl', 'uk', 'fa', 'ar', 'he', 'el', 'ja', 'ko', 'th', 'zh'];

/** All languages that a document may be found to be in. */
export const LANGUAGES: readonly string[] = [...new Set([...Object.keys(FUNCTION_WORDS), ...Object.keys(STEMMER_NAMES), ...OTHER_LANGUAGES])];

/** Languages that write compounds as one word: there the start of a word is searched as well. */
export const COMPOUNDING: ReadonlySet<string> = new Set(['de', 'nl', 'sv', 'da', 'no', 'fi', 'hu']);

/** Name of the Snowball stemmer, or null for languages that are not stemmed. */
export const stemmerNameOf = (language: string): string | null => STEMMER_NAMES[language] ?? null;

const wordsOf = new Map<string, ReadonlySet<string>>(
  Object.entries(FUNCTION_WORDS).map(([language, words]) => [language, new Set(words.split(/\s+/))]),
);
const NO_WORDS: ReadonlySet<string> = new Set();

/** Function word → the languages that have it, by their place in `wordsOf`. */
const languagesOf = new Map<string, number[]>();
[...wordsOf.values()].forEach((words, place) => {
  for (const word of words) languagesOf.set(word, [...(languagesOf.get(word) ?? []), place]);
});

/** Is this lower-cased word a function word in one of these languages? */
export function isFunctionWord(word: string, languages: Iterable<string>): boolean {
  for (const language of languages) if ((wordsOf.get(language) ?? NO_WORDS).has(word)) return true;
  return false;
}

/** Languages whose function words are known. */
export const hasFunctionWords = (language: string): boolean => wordsOf.has(language);

/** Letters that only some of the languages use: they decide short texts without function words. */
const TELLTALE: [RegExp, string][] = [
  [/ß|[äöü](?=[a-zäöüß])/u, 'de'], [/[ñ¿¡]/u, 'es'], [/ã|õ|ção/u, 'pt'], [/[œ]|[êèç]|\b[ldnjq]u?'/u, 'fr'], [/[åÅ]/u, 'sv'], [/[łąęśżź]/u, 'pl'],
  [/[ğış]/u, 'tr'], [/[őű]/u, 'hu'], [/[řěů]/u, 'cs'], [/[ăț]/u, 'ro'], [/[ø]/u, 'da'], [/[òù]\b/u, 'it'],
];

/** How many words are looked at: enough to be sure, little enough to cost nothing. */
const SAMPLE_WORDS = 600;

/**
 * The language of a text, ISO 639-1: by script, then by function words, then by letters only some languages have; English
 * when nothing speaks against it. Deterministic, and good to about a dozen words; a document has one language.
 */
export function detectLanguage(text: string): string {
  const sample = text.length > 12_000 ? `${text.slice(0, 6_000)} ${text.slice(text.length >> 1, (text.length >> 1) + 6_000)}` : text;
  const script = detectScript(sample);
  if (script !== null) return script;
  const hits = new Float64Array(wordsOf.size);
  let words = 0;
  eachWord(sample.toLowerCase(), (word) => {
    const places = languagesOf.get(word);
    if (places !== undefined) for (const place of places) hits[place]! += word.length > 1 ? 1 : 0.3;
    return ++words < SAMPLE_WORDS;
  });
  let best = 'en';
  let bestHits = 0;
  [...wordsOf.keys()].forEach((language, place) => {
    if (hits[place]! > bestHits) [best, bestHits] = [language, hits[place]!];
  });
  if (bestHits >= Math.max(1, words * 0.08)) return best;
  for (const [letters, language] of TELLTALE) if (letters.test(sample.normalize('NFC').toLowerCase())) return language;
  return 'en';
}

/** Runs of letters in lower-cased text, until `each` has enough. */
function eachWord(text: string, each: (word: string) => boolean): void {
  if (NOT_ASCII.test(text)) {
    const letters = /\p{L}+/gu;
    for (let match = letters.exec(text); match !== null; match = letters.exec(text)) if (!each(match[0])) return;
    return;
  }
  for (let start = 0; start < text.length; start++) {
    let end = start;
    while (end < text.length && isLetter(text.charCodeAt(end))) end++;
    if (end === start) continue;
    if (!each(text.slice(start, end))) return;
    start = end;
  }
}

const NOT_ASCII = /[^\x00-\x7f]/;
const isLetter = (code: number): boolean => code >= 97 && code <= 122;

function detectScript(sample: string): string | null {
  const count = (pattern: RegExp): number => sample.match(pattern)?.length ?? 0;
  // A few foreign letters and typographic signs say nothing.
  if (countForeign(sample) * 8 < sample.length) return null;
  const letters = count(/\p{L}/gu);
  const most = (pattern: RegExp): boolean => count(pattern) * 2 > letters;
  if (most(/\p{Script=Cyrillic}/gu)) return /[іїєґ]/iu.test(sample) && !/[ыэъ]/iu.test(sample) ? 'uk' : 'ru';
  if (most(/\p{Script=Arabic}/gu)) return /[پچژگ]/u.test(sample) ? 'fa' : 'ar';
  if (most(/\p{Script=Hebrew}/gu)) return 'he';
  if (most(/\p{Script=Greek}/gu)) return 'el';
  if (count(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu) * 5 > letters) return 'ja';
  if (most(/\p{Script=Hangul}/gu)) return 'ko';
  if (most(/\p{Script=Thai}/gu)) return 'th';
  if (most(/\p{Script=Han}/gu)) return 'zh';
  return null;
}

/** Characters that are neither Latin letters nor typographic signs. */
function countForeign(sample: string): number {
  let foreign = 0;
  for (let i = 0; i < sample.length; i++) {
    const code = sample.charCodeAt(i);
    if (code > 0x36f && !(code >= 0x2000 && code <= 0x2bff) && !(code >= 0xfb00 && code <= 0xfb06)) foreign++;
  }
  return foreign;
}
