import { find } from './find.ts'
import { list, NAMES_FILES } from './list.ts'
import { literalsIn } from './words/literals.ts'
import { looksLikePath } from './words/file-names.ts'
import { phrase, phrases } from './words/phrase.ts'
import { NOTHING, type Context, type Reading } from './reading.ts'
import { see } from './read.ts'
import { run } from './run.ts'
import { search } from './search.ts'

/** What a question needs to be answered: the first form that fits and leads to a call. */
export function question(said: string, context: Context): Reading {
  const text = said
    .trim()
    .replace(/[?\s]+$/, '')
    .replace(IN_WHICH, 'where ')
  for (const [form, answer] of QUESTIONS) {
    const found = form.exec(text)
    if (found === null) continue
    const reading = answer(found, context)
    if (reading.calls.length > 0) return reading
  }
  return NOTHING
}

const IN_WHICH = phrase`
  ^in (?:which|what) (?:of (?:the|these|those|my|our) )?(?:files?|places?|folders?|modules?
  |scripts?|documents?|lines?|part) `

type Answer = (found: RegExpExecArray, context: Context) => Reading

const IS = "(?:'s| is| are| was| were| does| do| did)"
const FILES = '(?:files?|documents?|scripts?|modules?|sources?|folders?|director(?:y|ies)|pages?)'
const UP_TO_FOUR = "(?:(?!is\\b|are\\b|does\\b|do\\b|in\\b|'s\\b)\\S+ ){0,4}?"

const QUESTIONS: readonly (readonly [RegExp, Answer])[] = [
  [
    phrase`
      ^where(?:${IS}| can (?:i|we|you)| could (?:i|we)| would (?:i|we)| have (?:i|we|you)
      | has)? (?:you |i |we |one )?(?:find |see |put )?(?:{DET}(?:{FILE}|{FOLDER}) )
      (?:called |named )?(.+?)(?: (?:located|stored|kept|saved|live|lives|hiding|is|are))?$`,
    (found, context) => list(`file ${rest(found)}`, context, true),
  ],
  [
    phrase`
      ^where in (.+?) (?:is|are|do|does|did)(?: (?:we|i|you|they|it))? (?:{USED} )?(.+?)
      (?: (?:{USED}|{OCCURS}))?$`,
    (found, context) => search(`${found[2] ?? ''} in ${rest(found)}`, context),
  ],
  [
    phrase`
      ^where(?: else)?(?: does| do| did| have| has| is| are) (?:we|i|you|they|the code|it|anything
      |anybody|anyone|somebody) (?:ever )?{USED} (.+)$`,
    (found, context) => search(rest(found), context),
  ],
  [
    phrase`
      ^where(?:ver)?(?: else)?${IS}?(?: exactly)? (.+?)(?: (?:is|are|was|were|gets?|being))?
      (?: (?:{USED}|{OCCURS}))(?: (in|under|inside|within|across|throughout)( .+))?$`,
    (found, context) => search(`${rest(found)} ${found[2] ?? ''}${found[3] ?? ''}`, context),
  ],
  [
    phrase`^where(?:${IS}| can (?:i|we|you) find| do (?:i|we) find| did (?:i|we|you) put) (.+)$`,
    whereIs,
  ],
  [
    phrase`
      ^(?:which|what|how many|do (?:we|you) (?:have|see)(?: any)?|are there(?: any)?|is there
      (?: an?| any)?)(?: of)? ${UP_TO_FOUR}(?:${FILES}|lines?|places?|code|parts?)(?!\w)(?: (?:in
      |of|under) .+?)? (?:that |which )?(?:{HOLDS}|containing|mentioning|using|importing
      |with) (.+)$`,
    filesHolding,
  ],
  [
    phrase`
      ^(?:which|what|how many|do (?:we|you) (?:have|see)(?: any| an?)?|have we(?: got)?(?: any)?
      |are there(?: any)?|is there(?: an?| any)?|any) (${UP_TO_FOUR}${FILES}(?!\w).*)$`,
    (found, context) =>
      list(withoutVerbs(rest(found)), context, phrase`^(?:is|are|do|have|any)`.test(found[0])),
  ],
  [
    phrase`^(?:is|are) there (?:an? |any )?({NAME})(?: (.+))?$`,
    (found, context) => find(`${rest(found)} ${found[2] ?? ''}`, context, 'find'),
  ],
  [
    phrase`
      ^(?:does|do we have|have we got|is) (?:an? |the )?(?:{FILE} )?(?:called |named )?({PATH})
      (?: exist| there| present)?(?: anywhere| already)?$`,
    (found, context) => find(`file ${rest(found)}`, context, 'find'),
  ],
  [
    phrase`
      ^(?:how (?:often|many times)|how frequently) (?:does|do|did|is|are|has|have) (.+?)
      (?: (?:{USED}|{OCCURS}|been {USED}))(?: (.+))?$`,
    (found, context) => search(`${rest(found)} ${found[2] ?? ''}`, context),
  ],
  [
    phrase`
      ^(?:is|are) there (?:any |an? )?(?:mentions?|occurrences?|references?|uses?|usages?|trace
      |sign|instances?) (?:of|to) (.+)$`,
    (found, context) => search(rest(found), context),
  ],
  [
    phrase`
      ^(?:does|do|did|if|whether|has|have) (?:{DET}(?:{FILE} )?)?({NAME}|the [\w-]+ file|it
      |that file) (?:also |still |ever |already |anywhere )?{HOLDS} (.+)$`,
    (found, context) => search(`${found[2] ?? ''} in ${rest(found)}`, context),
  ],
  [
    phrase`
      ^(?:does|do|did) (?:we|i|you|they|anything|anyone|anybody|any file|the code|the project
      |our code) (?:still |ever |already |anywhere )?{HOLDS} (.+)$`,
    (found, context) => search(rest(found), context),
  ],
  [
    phrase`
      ^(?:does|do|did|is|are|was|if|whether) (?:{DET}
      (?:word |text |string |phrase |function |term )?)?
      (.+?) (?:is |are |still |ever |being |anywhere |also )*(?:{USED}|{OCCURS})(?: (.+))?$`,
    (found, context) => search(`${rest(found)} ${found[2] ?? ''}`, context),
  ],
  [
    /^(?:[Aa]re|[Ii]s) there (?:(?:still|any|an?) )*([A-Z]{3,}s?)(?: (?:comments?|left))*( .+)?$/,
    (found, context) => search(`${rest(found)}${found[2] ?? ''}`, context),
  ],
  [
    phrase`
      ^(?:anything|something|any (?:file|line|place|mention)s?)(?: (?:that|which))? (?:{HOLDS}
      |saying|containing|mentioning|of|like|with) (.+)$`,
    (found, context) => search(rest(found), context),
  ],
  [
    phrase`
      ^(?:who|what)(?: else)? (?:uses|calls|imports|mentions|references|needs|depends on
      |includes) (.+)$`,
    (found, context) => search(rest(found), context),
  ],
  [
    phrase`
      ^(?:what|what's|whats)(?: else)?(?:'s| is| are| do you (?:see|find)| can (?:i|we) find
      | do we have| have we got)?(?: (?:there|written|stored|kept|inside|shown|said
      |going on))? (?:in|inside|within|on|at|under|of)(?: of)? (.+)$`,
    (found, context) => see(rest(found), context, 'read'),
  ],
  [
    phrase`
      ^(?:what|what's|whats)(?:'s| is| are)? ((?:the )?(?:(?:directory|folder|file
      |project) (?:structure|layout|tree)|contents?|text|source|body|first|top|lines?|beginning
      |start|list|listing|files?)(?!\w).*)$`,
    (found, context) => see(rest(found), context, 'read'),
  ],
  [
    phrase`
      ^(?:what|how)(?: does| do| did|'s| is| are)? (it|that file|them|both|they) (?:says?
      |contains?|holds?|looks?|includes?|ha(?:ve|s)|reads?|starts?|begins?|do(?:es)?|about|works?)
      (?!\w)`,
    (found, context) => see(rest(found), context, 'read'),
  ],
  [
    phrase`
      ^(?:what|what's|whats)(?: is| would be)? the (?:output|result) of (?:running )?({CODE})`,
    (found, context) => run(rest(found), context, 'run'),
  ],
  [
    phrase`^what (?:does|do|would|will) ({CODE}) (?:print|output|show|return|give|produce)`,
    (found, context) => run(rest(found), context, 'run'),
  ],
  [
    phrase`
      ^(?:is|are) {DET}(?:word |text |string |phrase |term |name )?({TEXT}) (?:anywhere |somewhere
      |still |also )*((?:in|inside|under|within) .+)$`,
    (found, context) => search(`${rest(found)} ${found[2] ?? ''}`, context),
  ],
  [
    phrase`
      ^(?:what|what's|whats|which|how|who|where|does|is|are|has)(?!\w)(?! (?:to|do|can|could
      |should|would|are|have|did) (?:i|we|you|one|they)(?!\w)| to(?!\w))(?: (?:does|do|did|is|are)
      (?!\w))?(.*{NAME}.*?)(?: (?:says?|contains?|holds?|includes?|ha(?:ve|s)|reads?|looks?
      |starts?|begins?|do(?:es)?|works?)(?!\w).*)?$`,
    aboutFiles,
  ],
]

/** Whatever is asked about a file, the answer begins with reading it. */
function aboutFiles(found: RegExpExecArray, context: Context): Reading {
  const files = literalsIn(rest(found), context.literals).filter(({ text }) => looksLikePath(text))
  return files.length === 0 ? NOTHING : see(rest(found), context, 'read')
}

function rest(found: RegExpExecArray): string {
  return found[1] ?? ''
}

/** A name with an extension is a file; any other word must look like a name in code, or a person is talking of the world. */
function whereIs(found: RegExpExecArray, context: Context): Reading {
  const said = rest(found)
  if (PRONOUN.test(said))
    return {
      calls: context.it.map((path) => ({
        name: 'glob',
        arguments: { pattern: `**/${path.replace(/^\.?\//, '')}` },
      })),
    }
  const literals = literalsIn(said, context.literals)
  if (literals.some(({ text }) => looksLikePath(text))) return find(said, context, 'find')
  const namesCode =
    literals.length > 0 ||
    /(?:[a-z][A-Z]|_|\d|[A-Z]{3,})/.test(said) ||
    phrase`\b(?:function|method|class|variable|constant|word|string|text|type|symbol) \S`.test(said)
  return namesCode ? search(said, context) : NOTHING
}

const PRONOUN = phrase`
  ^(?:it|that(?: file)?|this(?: file)?|the file)(?: (?:then|now|again|located|stored))*$`

function filesHolding(found: RegExpExecArray, context: Context): Reading {
  if (NAMES_FILES.test(found[0]))
    return list(
      found[0].replace(
        phrase`^(?:which|what|how many|do (?:we|you) (?:have|see)|are there|is there)`,
        '',
      ),
      context,
      true,
    )
  const place =
    phrase`
      (?:files?|lines?|places?|code|scripts?|modules?|documents?) ((?:in|of|under|inside
      |within) .+?) (?:that |which )?(?:contain|mention|use|include|import|reference|have|has
      |define|call|say|need|talk|refer|speak|with)`.exec(found[0])?.[1] ?? ''
  return search(`${rest(found)} ${place.replace(/^of\b/i, 'in')}`, context)
}

/** "files are there in src" as "files in src". */
function withoutVerbs(text: string): string {
  return text
    .replace(
      phrases`
        (?<=\s)(?:are|is|do|does|exist|live|lie|sit|can|have|has|we|you|i|see|find|got|there
        |stored|present|available|located|kept)(?= |$)(?: (?:are|is|exist|we|you|i|see|find|have
        |got|there|stored|available|live)(?= |$))*`,
      '',
    )
    .replaceAll(/\s+/g, ' ')
    .trim()
}
