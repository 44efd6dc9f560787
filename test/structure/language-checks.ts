import { Visitor } from 'rolldown/utils'
import { codeOf, isTest, lineOf, parse, type Tree } from './source.ts'

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
]

/**
 * Avoided words in text that people read: every string and template of a presenter, and elsewhere in `src/` those in the
 * arguments of `failed(…)` and in `action` and `command` of a next action. Names of fields are not text.
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
      if (/\s/.test(value.raw)) all.push({ start, words: value.raw })
    },
    CallExpression: ({ callee, start, end }) => {
      if (callee.type === 'Identifier' && callee.name === 'failed') spans.push({ start, end })
    },
    Property: ({ key, value: { start, end } }) => {
      const isAction = key.type === 'Identifier' && /^(action|command)$/.test(key.name)
      if (isAction) spans.push({ start, end })
    },
  }).visit(program)
  if (path.startsWith('src/presenters/')) return all
  return all.filter(({ start }) => spans.some((span) => span.start <= start && start < span.end))
}
