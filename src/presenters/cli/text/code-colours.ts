import type { HighlightJS } from 'highlight.js/lib/common'
import { PLAIN, type Line, type Span, type Style } from './cell-width.ts'

/** The language of code, and its lines since the last one after which nothing was open, such as a comment. */
export interface OpenCode {
  readonly language: string
  readonly lines: readonly string[]
}

export function codeBegun(language: string): OpenCode {
  return { language: /^[\w+#.-]*/.exec(language)?.[0].toLowerCase() ?? '', lines: [] }
}

/**
 * The next line of code in its colours, which depend on the lines before it and never on those after it, so that a
 * streamed answer looks like a stored one. Plain if the language is unknown, or `loadCodeColours` was not called. Pure
 * but for that.
 */
export function codeLine(
  text: string,
  { language, lines }: OpenCode,
): { readonly line: Line; readonly open: OpenCode } {
  const isKnown = language !== '' && highlighter?.getLanguage(language) !== undefined
  if (highlighter === undefined || !isKnown || text.length > LONGEST_LINE)
    return { line: [{ text, style: PLAIN }], open: { language, lines: [] } }
  const all = [...lines, text]
  // The space has the scopes that are open after the line.
  const code = `${all.join('\n')}\n `
  const { value } = highlighter.highlight(code, { language, ignoreIllegals: true })
  const { spans, isOpen } = lastLine(value)
  return { line: spans, open: { language, lines: isOpen ? linesKept(all) : [] } }
}

/** Loads the highlighter with its common languages. Call it before code is shown for the first time. */
export async function loadCodeColours(): Promise<void> {
  highlighter ??= (await import('highlight.js/lib/common')).HighlightJS
}

/** Whether a text may contain code, and the colours are not loaded. */
export function needsCodeColours(text: string): boolean {
  return highlighter === undefined && /`|~~~/.test(text)
}

let highlighter: typeof HighlightJS | undefined

/** The highlighter takes long for longer ones, which are minified. */
const LONGEST_LINE = 2_000
/** Of what is open for very long: how it began, and its end. */
const MOST_LINES = 60
const FIRST_LINES = 20

function linesKept(lines: readonly string[]): readonly string[] {
  return lines.length <= MOST_LINES ? lines : lines.slice(0, FIRST_LINES)
}

const PART = /<span class="([^"]*)">|<\/span>|[^<]+/g
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
}

/** The line before the last one of what the highlighter returns, and whether a scope is open at the end. */
function lastLine(html: string): { readonly spans: Span[]; readonly isOpen: boolean } {
  let [before, spans]: [Span[], Span[]] = [[], []]
  let isOpen = false
  const scopes: string[] = []
  for (const [part, scope] of html.matchAll(PART)) {
    if (scope !== undefined) scopes.push(scope)
    else if (part === '</span>') scopes.pop()
    else {
      const text = part.replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, (one) => ENTITIES[one] ?? one)
      const style = styleOf(scopes)
      isOpen = scopes.length > 0
      for (const [at, piece] of text.split('\n').entries()) {
        if (at > 0) [before, spans] = [spans, []]
        if (piece !== '') spans.push({ text: piece, style })
      }
    }
  }
  return { spans: before, isOpen }
}

function styleOf(scopes: readonly string[]): Style {
  const scope = scopes.findLast((one) => STYLES[nameOf(one)] !== undefined)
  return scope === undefined ? PLAIN : (STYLES[nameOf(scope)] ?? PLAIN)
}

function nameOf(scope: string): string {
  return scope.replace(/^hljs-/, '').replace(/ .*$/, '')
}

const KEYWORD: Style = { colour: 'magenta' }
const NAME: Style = { colour: 'blue' }
const STRING: Style = { colour: 'green' }
const VALUE: Style = { colour: 'yellow' }
const TYPE: Style = { colour: 'cyan' }
const QUIET: Style = { dim: true }

const STYLES: Readonly<Record<string, Style>> = {
  keyword: KEYWORD,
  'selector-tag': KEYWORD,
  'template-tag': KEYWORD,
  name: KEYWORD,
  title: NAME,
  section: { ...NAME, bold: true },
  attribute: NAME,
  'selector-id': NAME,
  'selector-class': NAME,
  string: STRING,
  regexp: STRING,
  char: STRING,
  link: STRING,
  subst: PLAIN,
  number: VALUE,
  literal: VALUE,
  symbol: VALUE,
  bullet: VALUE,
  attr: TYPE,
  property: TYPE,
  built_in: TYPE,
  type: TYPE,
  'template-variable': TYPE,
  comment: QUIET,
  quote: QUIET,
  meta: QUIET,
  doctag: { ...QUIET, bold: true },
  emphasis: { italic: true },
  strong: { bold: true },
  addition: { colour: 'green' },
  deletion: { colour: 'red' },
}
