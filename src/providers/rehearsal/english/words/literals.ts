import { parseJson } from '../../../../encoding/json.ts'
import { nameKind, withoutEndMarks } from './file-names.ts'

/**
 * What stands in a text word for word: quotes, code, file names. Each is replaced by one character, so that rules about
 * sentences never look inside a name or a quotation.
 */
export function mask(source: string): Masked {
  const literals: Literal[] = []
  let text = ''
  let at = 0
  while (at < source.length) {
    const found = literalAt(source, at)
    if (found !== undefined && literals.length < PER_KIND - 1) {
      text += found.before + placeholder(found.literal.kind, literals.length)
      literals.push(found.literal)
      at += found.before.length + found.literal.source.length
    } else {
      const plain = plainRun(source, at)
      text += plain
      at += plain.length
    }
  }
  return { text, literals }
}

export interface Masked {
  readonly text: string
  readonly literals: readonly Literal[]
}

export interface Literal {
  readonly kind: LiteralKind
  /** What it says. */
  readonly text: string
  /** How it was typed, marks included. */
  readonly source: string
}

const KINDS = ['fence', 'code', 'quote', 'path', 'glob', 'link'] as const
type LiteralKind = (typeof KINDS)[number]

/** Placeholders are characters of private use: a block of this size a kind. */
const PER_KIND = 1024
const FIRST_PLACEHOLDER = 0xe000

/** One more literal, and the character that stands for it. */
export function withLiteral(literals: readonly Literal[], literal: Literal) {
  return {
    literals: [...literals, literal],
    placeholder: placeholder(literal.kind, literals.length),
  }
}

/** The characters that stand for literals of these kinds, for use in a regular expression. */
export function placeholders(...kinds: readonly LiteralKind[]): string {
  const ranges = kinds.map((kind) => {
    const first = FIRST_PLACEHOLDER + KINDS.indexOf(kind) * PER_KIND
    return `${unicode(first)}-${unicode(first + PER_KIND - 1)}`
  })
  return `[${ranges.join('')}]`
}

/** The literals that a masked text holds, in order. */
export function literalsIn(masked: string, literals: readonly Literal[]): Literal[] {
  return literalPlaces(masked, literals).map(({ literal }) => literal)
}

/** The same, and where each of them stands. */
export function literalPlaces(masked: string, literals: readonly Literal[]): LiteralPlace[] {
  return [...masked.matchAll(/[\uE000-\uF7FF]/g)].flatMap(({ 0: character, index: at }) => {
    const literal = literalOf(character, literals)
    return literal === undefined ? [] : [{ literal, at }]
  })
}

export interface LiteralPlace {
  readonly literal: Literal
  readonly at: number
}

/** What a person typed where `masked` stands. */
export function asTyped(masked: string, literals: readonly Literal[]): string {
  return masked.replaceAll(
    /[\uE000-\uF7FF]/g,
    (character) => literalOf(character, literals)?.source ?? character,
  )
}

/** What a person means by `masked`: a literal's own text if it is one, and the words as typed if it is not. */
export function asMeant(masked: string, literals: readonly Literal[]): string {
  const trimmed = masked.trim()
  return literalOf(trimmed, literals)?.text ?? asTyped(trimmed, literals)
}

function literalOf(character: string, literals: readonly Literal[]): Literal | undefined {
  if (!/^[\uE000-\uF7FF]$/.test(character)) return undefined
  return literals[(character.charCodeAt(0) - FIRST_PLACEHOLDER) % PER_KIND]
}

interface Found {
  /** Brackets that open before it. */
  readonly before: string
  readonly literal: Literal
}

function literalAt(source: string, at: number): Found | undefined {
  return fenceAt(source, at) ?? jsonAt(source, at) ?? quoteAt(source, at) ?? bareAt(source, at)
}

const FENCE = /(```|~~~)([^\n`]*)\n([\s\S]*?)\n?[ \t]*\1/y

function fenceAt(source: string, at: number): Found | undefined {
  FENCE.lastIndex = at
  const found = FENCE.exec(source)
  if (found === null) return undefined
  const [typed, , , body = ''] = found
  const text = body === '' ? '' : `${body}\n`
  return { before: '', literal: { kind: 'fence', text, source: typed } }
}

/** A JSON object or array on one line needs no quotes around it. */
function jsonAt(source: string, at: number): Found | undefined {
  if (!/[[{]/.test(source.charAt(at)) || /\S/.test(source.charAt(at - 1))) return undefined
  const line = source.slice(at, at + LONGEST_JSON).split('\n', 1)[0] ?? ''
  const ends = [...line.matchAll(/[\]}]/g)].map(({ index }) => index + 1)
  const text = ends
    .slice(-MOST_ENDS)
    .map((end) => line.slice(0, end))
    .findLast((json) => typeof parseJson(json) === 'object')
  return text === undefined
    ? undefined
    : { before: '', literal: { kind: 'quote', text, source: text } }
}

const LONGEST_JSON = 1000
const MOST_ENDS = 16

/** Straight single quotes are also apostrophes: they open after a space or bracket and close before one. */
const QUOTES: readonly (readonly [kind: 'code' | 'quote', form: RegExp])[] = [
  ['code', /```([^\n]+?)```/y],
  ['code', /``([^\n]+?)``/y],
  ['code', /`([^`\n]+)`/y],
  ['quote', /"((?:[^"\\]|\\[\s\S])*)"/y],
  ['quote', /[“„]([^”“]*)[”“]/y],
  ['quote', /«\s?([^»]*?)\s?»/y],
  ['quote', /‘([^\n]*?)’(?!\w)/y],
  ['quote', /(?<![\w.)])'(\S|\S[^\n]*?\S)'(?!\w)/y],
]

function quoteAt(source: string, at: number): Found | undefined {
  for (const [kind, form] of QUOTES) {
    form.lastIndex = at
    const found = form.exec(source)
    if (found === null) continue
    const [typed, inner = ''] = found
    const text = typed.startsWith('"') ? inner.replaceAll('\\"', '"') : inner
    return { before: '', literal: { kind, text, source: typed } }
  }
  return undefined
}

const BARE = /([([{<]*)([^\s"`“”„«»]+)/y

function bareAt(source: string, at: number): Found | undefined {
  if (at > 0 && !/[\s([{<,;:"“”'‘’—-]/.test(source.charAt(at - 1))) return undefined
  BARE.lastIndex = at
  const found = BARE.exec(source)
  if (found === null) return undefined
  const [, before = '', typed = ''] = found
  const text = withoutEndMarks(typed)
  // A full stop that touches what stands before it ends a sentence.
  if (/^\.+$/.test(text) && at > 0 && /\S/.test(source.charAt(at - 1))) return undefined
  const kind = nameKind(text)
  return kind === undefined ? undefined : { before, literal: { kind, text, source: text } }
}

/** Up to where the next literal may begin. A private character of the person's own must not pass for a placeholder. */
function plainRun(source: string, at: number): string {
  const run = /[\w]+|[\s\S]/y
  run.lastIndex = at
  const plain = run.exec(source)?.[0] ?? source.charAt(at)
  return /^[\uE000-\uF8FF]$/.test(plain) ? '\uFFFD' : plain
}

function placeholder(kind: LiteralKind, index: number): string {
  return String.fromCharCode(FIRST_PLACEHOLDER + KINDS.indexOf(kind) * PER_KIND + index)
}

function unicode(code: number): string {
  return `\\u${code.toString(16)}`
}
