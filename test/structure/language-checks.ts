import { Visitor } from 'rolldown/utils'
import { codeOf, isTest, lineOf, parse, type Tree } from './source.ts'

/** `camelCase` and `PascalCase` outside quotes, except names of products and units. */
const NAME_OF_CODE =
  /(?<![\w`"'./$-])(?!(?:OpenAI|WebSockets?|GitHub|JavaScript|TypeScript|WebAssembly|BusyBox|WebP|iTerm2?|PgDn|PgUp|KiB|MiB|GiB|NixOS|SQLite)\b)(?:[a-z]+|[A-Z][a-z]+)(?:[A-Z][a-z]+)+(?![\w`"'(/-]|\.\w|:\d)/

/** Words that are hard to understand in a message, each with a replacement. */
const AVOIDED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\banew\b/i, 'again'],
  [/\bfor ever\b/i, 'permanently'],
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/\b(tell|tells|told) of\b/i, 'describes'],
  [/\btold\b/i, 'name who is informed, and how'],
  [/\bstands\b/i, 'is'],
  [/\bnobody\b/i, 'name who is missing'],
  [/\bis no figure\b/i, 'must be'],
  [/\bsay (`|")?--/i, 'pass'],
  [/\bsaid again\b/i, 'repeatable'],
  [/\bheard\b/i, 'received'],
  [/\bwhoever\b/i, 'name the person or the program'],
  [/\blooked after\b/i, 'under maintenance'],
  [/\btaken for\b/i, 'mistaken for, or treated as'],
  [/\bthat (is|are) (not one|none|no one)\b/i, 'invalid'],
  [/\b(go|goes|going|went) on\b/i, 'continue'],
  [/\b(take|takes|taking|taken|took) back\b/i, 'undo'],
  [/\btakes? (no|any|only|at most|no more)\b/i, 'accepts'],
  [/\b(is|are|was|were) not there\b/i, 'does not exist'],
  [/\bmust be there\b/i, 'is required'],
  [/\bthere (is|are) none (of|from|with)\b/i, 'name what does not exist'],
  [/(?<!\bthere )is no (JSON|text|file|folder|number|id|Session|Turn)\b/i, 'is not'],
  [/\b(has|have) not (a|an|the)\b/i, 'does not have'],
  [/\bof its own\b/i, 'separate, or nothing'],
  [/\b(said|given) twice\b/i, 'repeated'],
  [/\bonce more\b/i, 'again'],
  [/\bso many (are|is|were)\b/i, 'that many, or the number'],
  [/\b(break|breaks|broke|broken) off\b/i, 'failed'],
  [/\b(stand|stands) (beside|behind|before)\b/i, 'be combined with, after, before'],
  [/\bholds? (a key|exactly|nothing|no)\b/i, 'contains'],
  [/\bcannot be had\b/i, 'is not available'],
  [/\bas it stands\b/i, 'unchanged'],
  [/\bof (that|this) name\b/i, 'with that name'],
  // A name of the code is not a word: a rename in the code must not rename it in a sentence.
  [NAME_OF_CODE, 'a word'],
]

/**
 * Avoided words in text that people or models read: every string and template of the folders in `ALL_TEXTS`, and elsewhere in
 * `src/` those in the arguments of `failed(…)` and in `action` and `command` of a next action. Names of fields are not text.
 */
export function avoidedWords(tree: Tree): string[] {
  return [...codeOf(tree)]
    .filter(([path]) => path.startsWith('src/') && !isTest(path))
    .flatMap(([path, text]) =>
      textsOf(path, text).flatMap(({ start, words }) =>
        AVOIDED.filter(([pattern]) => pattern.test(words)).map(
          ([pattern, instead]) =>
            `${path}:${lineOf(text, start)} says "${pattern.exec(words)?.[0]}"; write: ${instead}`,
        ),
      ),
    )
}

/** Code inside a template, which runs in another thread or process. */
const SCRIPT = /\bconst \w|\brequire\(|=>/

/** The grammar of the rehearsal model matches what people type. */
const ALL_TEXTS = /^src\/(?!providers\/rehearsal\/english\/)/

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
