/**
 * What text in each language looks like, as far as encodings can be told apart by it: the letters beyond ASCII that it uses, the most
 * frequent first, and words that nearly every paragraph has. Not for telling languages: many more share these alphabets.
 */
export interface LanguageProfile {
  /** Lower case, most frequent first; capitals follow from them. Empty for scripts that are judged by `isCommon`. */
  letters: string;
  /** Usual in running text, beside the symbols that all share. */
  marks?: string;
  words: string;
  /** Frequent characters of a script with thousands of them. */
  common?: string;
  /** What speaks against it beforehand: fewer people write it than its neighbours. */
  rarer?: number;
  /** Any character of the script, frequent or not. */
  script?: RegExp;
}

const profile = (letters: string, words: string, more: Partial<LanguageProfile> = {}): LanguageProfile => ({ letters, words, ...more });

const western: LanguageProfile[] = [
  profile('éèêçöüïñôâ', 'the of and to in is that for it with as was on are by this be at from or an have not we you he they which his', { marks: '’“”—–‘' }),
  profile('üäößé', 'der die das und in zu den von mit für auf ist im nicht ein eine als auch es an werden aus er hat dass sie nach bei einer um', { marks: '„“‚‘–»«' }),
  profile('éèàêçôûùîâœïëæÿü', 'le la les de des du et en un une est que qui dans pour au à sur par plus pas avec sont il elle ne se ce été où', { marks: '’«»–…' }),
  profile('óáéíñúüçàï', 'de la que el en y a los se del las un por con no una su para es al lo como más pero sus le ha o este sí', { marks: '¿¡«»ºª' }),
  profile('ãçáéíóêõúâàôü', 'de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem à', { marks: '“”ºª«»' }),
  profile('èàùòéìîí', 'di e il la che in a per un è non del una le con si da dei i al più della come ma anche nel ha sono alla', { marks: '’«»“”' }),
  profile('ëéïöèüêçó', 'de het een van en in is dat op te zijn voor met niet die aan er om ook als maar bij uit nog door over', { marks: '’‘“”' }),
  profile('äöåéüà', 'och i att det som en på är av för med till den har inte om ett de han var jag vi sig från så', { marks: '”–' }),
  profile('øæåéäöüó', 'og i at det en den til er som på de med af for ikke der var et har om vi jeg han å av fra', { marks: '»«–' }),
  profile('äöåšžé', 'ja on ei se että joka oli ovat hän myös mutta kun tai niin jos vain sekä', { marks: '”’–', rarer: 0.05 }),
  profile('àèéíòóúïüç', 'de la que el i en a els les un per amb no una és del al es més com va són', { marks: '’·«»', rarer: 0.1 }),
  profile('íáþðéóöúýæ', 'og að í á er sem til við um en af ekki það hann var með fyrir', { marks: '„“–', rarer: 0.2 }),
  profile('õäöüšž', 'ja on ei et see ta oli mis kui ka ning aga oma', { marks: '„“–', rarer: 0.15 }),
];

const central: LanguageProfile[] = [
  profile('łąężóśćńźéü', 'w i na z do się nie że to jest o od po dla jak za przez są ale tym oraz był', { marks: '„”–—' }),
  profile('íáéřěžýčšůúťóďň', 'a v se na je že to s z do i o k ve pro za by po jako si od jsou ale který', { marks: '„“–‚‘' }),
  profile('áíéčžýšúľťôňóďäŕĺ', 'a v sa na je že to s z do o k vo pre za by po ako si od sú ale ktorý', { marks: '„“–' }),
  profile('áéőöóüíűú', 'a az és hogy nem is egy ez meg volt de csak mint már vagy el ki van lesz', { marks: '„”–»«' }),
  profile('ăîâșțşţéü', 'de și în a la cu pe care din că o un nu este mai pentru au sau fi prin', { marks: '„”–’' }),
  profile('čšžćđ', 'i u je se na da za su od s a o koji kao ne to iz do što in v ki ni bil pa so', { marks: '„“”–»«' }),
  profile('üäößé', 'der die das und in zu den von mit für auf ist im nicht ein eine als auch es an', { marks: '„“‚‘–' }),
];

const baltic: LanguageProfile[] = [
  profile('ėšųįžčūęą', 'ir kad į yra su iš ne tai bei ar per prie kaip jis po už dėl buvo', { marks: '„“–' }),
  profile('āīēšūņžļķčģ', 'un ir ka par ar no uz kas kā bet tas pie lai nav arī vai ko', { marks: '„“”–' }),
  profile('õäöüšž', 'ja on ei et see ta oli mis kui ka ning aga oma', { marks: '„“–', rarer: 0.15 }),
];

const turkish: LanguageProfile[] = [
  profile('ıışüğçöâî', 've bir bu da de için ile olarak daha çok en gibi kadar olan sonra var ne o ki', { marks: '’“”–' }),
  ...western.slice(0, 2),
];

const cyrillic: LanguageProfile[] = [
  profile('оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё', 'и в не на что с по как это он к из у за от для о то но же был до при или во их мы вы я а', { marks: '«»—№–' }),
  profile('оанівиертслкдмупязьбгйчюхїжєцшщфґ', 'і в не на що з до як та у за від це про для по але його й є а ні або із', { marks: '«»—’–' }),
  profile('аиоентрсвлпкмдъубгзяйчжхцшщфюьѝ', 'на и да се за от с в е не по са като че ще но до при или', { marks: '„“–' }),
  profile('аоиенртсувкјдмлпзгбчцшћжхљњђфџ', 'и у је да на се за су од са не као што из до или који', { marks: '„“”–' }),
  profile('аеіонрытслдкупвмяцьзбгйшчўёфжюхэ', 'і ў не на што з як да па для ў з але гэта было яго ад', { marks: '«»—’–' }),
];

const greek: LanguageProfile[] = [
  profile('αοιετσνρπκυηλμςάίόέήύωώδγχθβφξζψϊϋΐΰ', 'και το του την να η ο της με για τα στην που από είναι θα οι δεν τη σε στο των τις', { marks: '«»’–·' }),
];

const hebrew: LanguageProfile[] = [
  profile('יוהלאתרבמשנחדעקפסגטכםןזץךףצ', 'של את על לא כי הוא עם זה גם היא או אני כל אל ב ה ל', { script: /[\u05b0-\u05ea\u200e\u200f]/u }),
];
const arabic: LanguageProfile[] = [
  profile('ايلمنوهرتبعدسفكحقةأجشصىخضطإزذثغئءؤظآ', 'في من على أن إلى التي عن لا ما هذا هذه مع كان و أو قد بعد كل بين', { marks: '،؛؟«»', script: /[\u0620-\u0652\u200e\u200f]/u }),
];
const thai: LanguageProfile[] = [profile('ารนกอเงมยลวดทสตะบคหปแจใพขชไโซถผ่้ิีัี์ืุูำ็ๆ', '', { script: /[\u0e01-\u0e5b]/u })];

const japanese: LanguageProfile[] = [
  profile('', '', {
    script: /[\u3041-\u30fe\u4e00-\u9fff]/u,
    common: 'のにはをたがでてとしれさるいかもなあうらりくっこすまきけじだどめやよわんずせそちつへほみゆえおひろごげばべぎぐぶびスンルトリラアイドレロクシタフコプマテメサカパーグィバオウエッ、。「」・々' +
      '日一人年大国本会中長出者生事子自分東者上行社地定法部後手用方合内見物前時新間対学力所理同体民発動市主業立通度政作',
  }),
];
const chinese: LanguageProfile[] = [
  profile('', '', {
    script: /[\u4e00-\u9fff]/u,
    common: '的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对小多然于心学么之都好看起发当没成只如事把还用第样道想作种开美总从无情己面最女但现前些所同日手又行意动方期它头经长儿回位分爱老因很给名法间斯知世什两次使身者被高已亲其进此话常与活正感' +
      '，。、；：？！（）《》“”文件号公司部门信息工程数据技术管理政府人民',
  }),
];
const chineseTraditional: LanguageProfile[] = [
  profile('', '', {
    script: /[\u4e00-\u9fff]/u,
    common: '的一是了我不人在他有這個上們來到時大地為子中你說生國年著就那和要她出也得裡後自以會家可下而過天去能對小多然於心學麼之都好看起發當沒成只如事把還用第樣道想作種開美總從無情己面最女但現前些所同日手又行意動方期它頭經長兒回位分愛老因很給名法間斯知世什兩次使身者被高已親其進此話常與活正感' +
      '，。、；：？！（）《》「」文件號公司部門信息工程數據技術管理政府人民',
  }),
];
const korean: LanguageProfile[] = [
  profile('', '', {
    script: /[\uac00-\ud7a3]/u,
    common: '이다는의에을가고를한지로은기하사도자어나그일있리해서정인대아시과라수으들시장전부보주상제스보만조니안성여구공무것원아적였동경세유오용관학연문화국회개생위방신금습합면내건및년월및까게네요습했며',
  }),
];

/** By name for iconv, in the order in which they are preferred when nothing else decides; the number is how much speaks for each beforehand. */
export const singleByte: { name: string; prior: number; languages: readonly LanguageProfile[] }[] = [
  { name: 'windows-1252', prior: 0.16, languages: western },
  { name: 'macintosh', prior: 0.04, languages: western },
  { name: 'cp850', prior: 0.03, languages: western },
  { name: 'cp437', prior: 0.02, languages: western },
  { name: 'iso-8859-15', prior: 0.159, languages: western },
  { name: 'windows-1250', prior: 0.06, languages: central },
  { name: 'iso-8859-2', prior: 0.03, languages: central },
  { name: 'cp852', prior: 0, languages: central },
  { name: 'maccenteuro', prior: -0.02, languages: central },
  { name: 'windows-1254', prior: 0.02, languages: turkish },
  { name: 'windows-1257', prior: 0, languages: baltic },
  { name: 'windows-1251', prior: 0.1, languages: cyrillic },
  { name: 'koi8-u', prior: 0.05, languages: cyrillic },
  { name: 'cp866', prior: 0.05, languages: cyrillic },
  { name: 'iso-8859-5', prior: 0.02, languages: cyrillic },
  { name: 'maccyrillic', prior: 0.07, languages: cyrillic },
  { name: 'windows-1253', prior: 0.05, languages: greek },
  { name: 'windows-1255', prior: 0.03, languages: hebrew },
  { name: 'windows-1256', prior: 0.04, languages: arabic },
  { name: 'windows-874', prior: 0.02, languages: thai },
];

export const multiByte: { name: string; prior: number; languages: readonly LanguageProfile[] }[] = [
  { name: 'gb18030', prior: 0.05, languages: chinese },
  { name: 'big5', prior: 0.03, languages: chineseTraditional },
  { name: 'shift_jis', prior: 0.04, languages: japanese },
  { name: 'euc-jp', prior: 0.02, languages: japanese },
  { name: 'euc-kr', prior: 0.03, languages: korean },
];

/** For UTF-16, where bytes say nothing of the script. */
export const allLanguages: readonly LanguageProfile[] = [
  ...western, ...central, ...baltic, ...turkish, ...cyrillic, ...greek, ...hebrew, ...arabic, ...thai, ...japanese, ...chinese, ...chineseTraditional, ...korean,
];
