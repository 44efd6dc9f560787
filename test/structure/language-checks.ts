import { Visitor } from 'rolldown/utils'
import { codeOf, isPackageSource, lineOf, parse, type Tree } from './source.ts'

/** `camelCase` and `PascalCase` outside quotes, except names of products and units. */
const NAME_OF_CODE =
  /(?<![\w`"'./$-])(?!(?:OpenAI|WebSockets?|GitHub|JavaScript|TypeScript|WebAssembly|BusyBox|WebP|iTerm2?|PgDn|PgUp|KiB|MiB|GiB|NixOS|SQLite)\b)(?:[a-z]+|[A-Z][a-z]+)(?:[A-Z][a-z]+)+(?![\w`"'(/-]|\.\w|:\d)/

type Avoided = readonly [pattern: RegExp, instead: string]

/** Words that are hard to understand wherever they occur, each with a replacement. */
const AVOIDED: readonly Avoided[] = [
  [/\banew\b/i, 'again'],
  [/\bfor ever\b/i, 'permanently'],
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/\b(tell|tells|told) of\b/i, 'describes'],
  [/\btold\b/i, 'name who is informed, and how'],
  [/\bstands\b/i, 'is'],
  [/\bnobody\b/i, 'name who is missing'],
  [/\bsay (`|")?--/i, 'pass'],
  [/\bsaid again\b/i, 'repeatable'],
  [/\bheard\b/i, 'received'],
  [/\bwhoever\b/i, 'name the person or the program'],
  [/\blooked after\b/i, 'under maintenance'],
  [/\btaken for\b/i, 'mistaken for, or treated as'],
  [/\bthat (is|are) (not one|none|no one)\b/i, 'invalid'],
  [/\b(go|goes|going|went) on\b/i, 'continue'],
  [/\b(take|takes|taking|taken|took) back\b/i, 'undo'],
  [/\b(is|are|was|were) not there\b/i, 'does not exist'],
  [/\bmust be there\b/i, 'is required'],
  [/\bthere (is|are) none (of|from|with)\b/i, 'name what does not exist'],
  [/\bof now\b/i, 'current'],
  [/\b(has|have) not (a|an|the)\b/i, 'does not have'],
  [/\b(said|given) twice\b/i, 'repeated'],
  [/\bonce more\b/i, 'again'],
  [/\bso many (are|is|were)\b/i, 'that many, or the number'],
  [/\b(break|breaks|broke|broken) off\b/i, 'failed'],
  [/\b(stand|stands) (beside|behind|before)\b/i, 'be combined with, after, before'],
  [/\bholds? (a key|exactly|nothing|no)\b/i, 'contains'],
  [/\bcannot be had\b/i, 'is not available'],
  [/\bas it stands\b/i, 'unchanged'],
  [/\bof (that|this) name\b/i, 'with that name'],
]

/** One message that a model may read says `is no choice`: in messages, the nouns are named one by one. */
const AVOIDED_IN_COMMENTS: readonly Avoided[] = [
  ...AVOIDED,
  [/\b(somebody|anybody|everybody)\b/i, 'name the person or the program'],
  [/\bin vain\b/i, 'without effect'],
  [/\bof (ours|theirs)\b/i, 'name whose it is'],
  [/\b(is|are) none of\b/i, 'is not one of'],
  [/(?<!\bthere )\b(is|are|was|were) no (?!longer\b|more\b|less\b)\w/i, 'is not a'],
]

/** Also avoided in a message. A comment may use them: `Takes no lock`, `a process of its own`, and names of the code. */
const AVOIDED_IN_MESSAGES: readonly Avoided[] = [
  ...AVOIDED,
  [/(?<!\bthere )is no (figure|frame|JSON|text|file|folder|number|id|Session|Turn)\b/i, 'is not a'],
  [/\btakes? (no|any|only|at most|no more)\b/i, 'accepts'],
  [/\bof its own\b/i, 'separate, or nothing'],
  // A name of the code is not a word: a rename in the code must not rename it in a sentence.
  [NAME_OF_CODE, 'a word'],
]

/**
 * Avoided words in text that people or models read: every string and template of the folders in `ALL_TEXTS`, and elsewhere in
 * `src/` those in the arguments of `failed(…)` and in `action` and `command` of a next action. Names of fields are not text.
 */
export function avoidedWords(tree: Tree): string[] {
  return [...codeOf(tree)]
    .filter(([path]) => isPackageSource(path))
    .flatMap(([path, text]) => offences(path, text, textsOf(path, text), AVOIDED_IN_MESSAGES))
}

/** Avoided words in comments and in titles of tests, everywhere. What is between backticks is code, not a word. */
export function avoidedInComments(tree: Tree): string[] {
  return [...codeOf(tree)].flatMap(([path, text]) =>
    offences(path, text, [...commentsOf(path, text), ...titlesOf(path, text)], AVOIDED_IN_COMMENTS),
  )
}

function offences(
  path: string,
  text: string,
  texts: readonly Text[],
  avoided: readonly Avoided[],
): string[] {
  return texts.flatMap(({ start, words }) =>
    avoided.flatMap(([pattern, instead]) => {
      const found = pattern.exec(words)?.[0]
      const at = `${path}:${lineOf(text, start)}`
      return found === undefined ? [] : [`${at} says "${found}"; write: ${instead}`]
    }),
  )
}

/** Code inside a template, which runs in another thread or process. */
const SCRIPT = /\bconst \w|\brequire\(|=>/

/** The grammar of the rehearsal model matches what people type. */
const ALL_TEXTS = /^(?:rehearse\/)?src\/(?!providers\/rehearsal\/english\/)/

interface Text {
  readonly start: number
  readonly words: string
}

function textsOf(path: string, text: string): Text[] {
  const { program } = parse(path, text)
  const all: Text[] = []
  const spans: { readonly start: number; readonly end: number }[] = []
  new Visitor({
    Literal: ({ start, value }) => {
      // One word is a name or a key, not a sentence.
      if (typeof value === 'string' && /\s/.test(value)) all.push({ start, words: value })
    },
    TemplateElement: ({ start, value }) => {
      const words = value.cooked ?? ''
      if (/\s/.test(words) && !SCRIPT.test(words)) all.push({ start, words })
    },
    CallExpression: ({ callee, start, end }) => {
      if (callee.type === 'Identifier' && callee.name === 'failed') spans.push({ start, end })
    },
    Property: ({ key, value: { start, end } }) => {
      const isAction = key.type === 'Identifier' && /^(action|command)$/.test(key.name)
      if (isAction) spans.push({ start, end })
    },
  }).visit(program)
  if (ALL_TEXTS.test(path)) return all
  return all.filter(({ start }) => spans.some((span) => span.start <= start && start < span.end))
}

/** Line comments that follow each other are one text: a sentence continues on the next line. */
function commentsOf(path: string, text: string): Text[] {
  const found: { start: number; end: number; words: string }[] = []
  for (const { type, value, start, end } of parse(path, text).comments) {
    const last = found.at(-1)
    const continues =
      last !== undefined && type === 'Line' && /^\n[ \t]*$/.test(text.slice(last.end, start))
    if (continues) Object.assign(last, { end, words: `${last.words} ${value}` })
    else found.push({ start, end, words: value })
  }
  return found.map(({ start, words }) => ({
    start,
    words: withoutCode(words.replace(/\n[ \t]*\*/g, ' ')),
  }))
}

/** The first argument of `test(…)`, `test.each(…)(…)` and the like. */
function titlesOf(path: string, text: string): Text[] {
  const found: Text[] = []
  new Visitor({
    CallExpression: ({ callee, arguments: [title] }) => {
      if (!/^(test|it|describe)\b/.test(text.slice(callee.start, callee.end))) return
      if (title?.type === 'Literal' && typeof title.value === 'string')
        found.push({ start: title.start, words: withoutCode(title.value) })
      if (title?.type === 'TemplateLiteral')
        for (const { start, value } of title.quasis)
          found.push({ start, words: withoutCode(value.cooked ?? '') })
    },
  }).visit(parse(path, text).program)
  return found
}

function withoutCode(words: string): string {
  return words.replace(/`[^`]*`/g, '`').replace(/\s+/g, ' ')
}
