import { nameKind, withoutEndMarks } from './names.ts'

/** A quotation, code, or a file name, which rules treat as a unit. `source` is how it was typed. */
export type Literal = { readonly kind: LiteralKind; readonly text: string; readonly source: string }

export type MaskedText = { readonly text: string; readonly literals: readonly Literal[] }

const KINDS = ['fence', 'code', 'quote', 'path', 'glob'] as const
type LiteralKind = (typeof KINDS)[number]

/** A longer text outside quotations is pasted text, not a command. */
const LONGEST = 4000

/** Replaces each literal by one character of private use, so that no rule looks inside it. `undefined` if it is too long. */
export function mask(source: string): MaskedText | undefined {
  const literals: Literal[] = []
  const unclosed = new Set<string>()
  let text = ''
  let at = 0
  while (at < source.length) {
    const free = literals.length < PER_KIND
    const literal = free ? (quoteAt(source, at, unclosed) ?? nameAt(source, at)) : undefined
    WORD.lastIndex = at
    const plain = literal?.source ?? WORD.exec(source)?.[0] ?? source.charAt(at)
    if (literal === undefined) text += /^[\uE000-\uF8FF]$/.test(plain) ? '\uFFFD' : plain
    else text += String.fromCharCode(firstOf(literal.kind) + literals.push(literal) - 1)
    at += plain.length
    if (text.length > LONGEST) return undefined
  }
  return { text, literals }
}

const PER_KIND = 1024
const WORD = /\w+|[\s\S]/y
const PLACEHOLDERS = /[\uE000-\uF3FF]/g

function firstOf(kind: LiteralKind): number {
  return 0xe000 + KINDS.indexOf(kind) * PER_KIND
}

/** A character class for the placeholders of these kinds. */
export function placeholders(...kinds: readonly LiteralKind[]): string {
  const ranges = kinds.map((kind) => [firstOf(kind), firstOf(kind) + PER_KIND - 1])
  return `[${ranges
    .map((ends) =>
      String.fromCharCode(...ends)
        .split('')
        .join('-'),
    )
    .join('')}]`
}

export function literalsIn(masked: string, literals: readonly Literal[]): Literal[] {
  return [...masked.matchAll(PLACEHOLDERS)].flatMap(([one]) => literalOf(one, literals) ?? [])
}

export function asTyped(masked: string, literals: readonly Literal[]): string {
  return masked.replaceAll(PLACEHOLDERS, (one) => literalOf(one, literals)?.source ?? one)
}

/** The content of a literal, or the words as typed. Between straight double quotes, \n and \t are a line break and a tab. */
export function asMeant(masked: string, literals: readonly Literal[]): string {
  const [literal] = masked.trim().length === 1 ? literalsIn(masked, literals) : []
  if (literal === undefined) return asTyped(masked.trim(), literals)
  if (!literal.source.startsWith('"')) return literal.text
  return literal.text.replaceAll(/\\([nt\\])/g, (_, letter: string) => ESCAPES[letter] ?? letter)
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\\': '\\' }

function literalOf(character: string, literals: readonly Literal[]): Literal | undefined {
  return literals[(character.charCodeAt(0) - 0xe000) % PER_KIND]
}

/** Opening and closing, a longer mark before its prefixes. */
const MARKS = ['``````', '``', '""', '“”', '«»', '‘’', "''"] as const

function quoteAt(source: string, at: number, unclosed: Set<string>): Literal | undefined {
  const pair = MARKS.find((one) => source.startsWith(one.slice(0, one.length / 2), at)) ?? ''
  const [open, close] = [pair.slice(0, pair.length / 2), pair.slice(pair.length / 2)]
  if (open === '' || unclosed.has(open)) return undefined
  const from = at + open.length
  const isApostrophe = close === "'" || close === '’'
  const end = isApostrophe ? closedOnLine(source, at, close) : closedAt(source, from, close)
  if (end < 0) {
    // Searched for once, so that a text of only opening marks is not quadratic.
    if (!isApostrophe) unclosed.add(open)
    return undefined
  }
  const inner = source.slice(from, end)
  const typed = source.slice(at, end + close.length)
  if (open !== '```' || !inner.includes('\n')) {
    if (open === '`' && inner.includes('\n')) return undefined
    const text = open === '"' ? inner.replaceAll('\\"', '"') : inner
    return { kind: open.startsWith('`') ? 'code' : 'quote', text, source: typed }
  }
  const body = inner.slice(inner.indexOf('\n') + 1).replace(/\n?[ \t]{0,40}$/, '')
  return { kind: 'fence', text: body === '' ? '' : `${body}\n`, source: typed }
}

/** A quote after an odd number of backslashes is escaped. */
const UNESCAPED = /(?<!\\)(?:\\\\){0,20}"/g

function closedAt(source: string, from: number, close: string): number {
  if (close !== '"') return source.indexOf(close, from)
  UNESCAPED.lastIndex = from
  return UNESCAPED.test(source) ? UNESCAPED.lastIndex - 1 : -1
}

const LONGEST_ON_LINE = 2000

/** A mark that may also be an apostrophe does not open after a letter or close before one. */
function closedOnLine(source: string, at: number, close: string): number {
  const [line = ''] = source.slice(at + 1, at + LONGEST_ON_LINE).split('\n', 1)
  if (/[\w.)]/.test(source.charAt(at - 1)) || !/^\S/.test(line)) return -1
  const end = line.search(new RegExp(`${close}(?!\\w)`))
  return end < 0 ? -1 : at + 1 + end
}

const NAME = /[^\s"`“”«»]{1,400}/y

function nameAt(source: string, at: number): Literal | undefined {
  if (at > 0 && !/[\s([{<,;:"“”'‘’—-]/.test(source.charAt(at - 1))) return undefined
  NAME.lastIndex = at
  const text = withoutEndMarks(NAME.exec(source)?.[0] ?? '')
  // A full stop right after a character ends a sentence.
  if (/^\.+$/.test(text) && /\S/.test(source.charAt(at - 1))) return undefined
  const kind = nameKind(text)
  return kind === undefined ? undefined : { kind, text, source: text }
}
