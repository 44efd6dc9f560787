import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  parseDocument,
  type ParsedNode,
  type Scalar,
} from 'yaml'
import type * as z from 'zod'
import { quote, shorten } from '../encoding/quote.ts'
import type { SkillFinding } from './skill.ts'

/** The line of the file at which the front matter starts, after the line `---`. */
const YAML_LINE = 2

/**
 * A part of a front matter: its value, and what is wrong with it. Reports go to the findings of the whole front matter, with the
 * line and the name of the part. A part may be missing; then it is where it would be.
 */
export class FrontMatterPart {
  /** Only null, strings, numbers, booleans, lists and objects; no cycle. */
  readonly value: unknown
  readonly #path: Path
  readonly #tree: YamlTree

  private constructor(value: unknown, path: Path, tree: YamlTree) {
    this.value = value
    this.#path = path
    this.#tree = tree
  }

  /** The whole front matter. Never throws: what is not YAML, or beyond what is read of YAML, is among the findings. */
  static of(yaml: string): FrontMatterPart {
    const tree = yamlTree(yaml)
    return new FrontMatterPart(tree.value, [], tree)
  }

  /** Everything reported so far about the front matter. */
  get findings(): readonly SkillFinding[] {
    return this.#tree.findings
  }

  /** For messages: `"context_sources[0].id"`. */
  get name(): string {
    const words = this.#path.map((part, at) => {
      if (typeof part === 'number') return `[${part}]`
      return at === 0 ? part : `.${part}`
    })
    return quotedName(words.join(''))
  }

  /** Its value if it has keys and values. */
  get fields(): Readonly<Record<string, unknown>> | undefined {
    return isRecord(this.value) ? this.value : undefined
  }

  /** Its value if it is a text; a number or a flag as it is written, so that `007` stays what it is. */
  get text(): string | undefined {
    return typeof this.value === 'string' ? this.value : this.#tree.sourceOf(this.#path)
  }

  at(...keys: Path): FrontMatterPart {
    return new FrontMatterPart(valueAt(this.value, keys), [...this.#path, ...keys], this.#tree)
  }

  /** The parts of a list; none if it is missing. */
  items(): FrontMatterPart[] {
    return Array.isArray(this.value) ? this.value.map((_, index) => this.at(index)) : []
  }

  /** Reports a sentence. Returns undefined, for a part that has no value. */
  error(message: string): undefined {
    this.#report('error', message)
  }

  /** Reports a sentence about the part by its predicate: `must be a list`. */
  wrong(predicate: string): undefined {
    this.error(`${this.name} ${predicate}.`)
  }

  warning(message: string): void {
    this.#report('warning', message)
  }

  /** Checks the value, or `fields` in its place. Keys that the schema lacks are warnings; `undefined` if anything else is wrong. */
  check<T extends z.ZodObject>(schema: T, fields: unknown = this.value): z.infer<T> | undefined {
    const parsed = schema.safeParse(fields)
    for (const { path, message } of parsed.error?.issues ?? []) {
      const keys = path.filter((part) => typeof part !== 'symbol')
      const isMissing = valueAt(fields, keys) === undefined
      this.at(...keys).wrong(isMissing ? 'is missing' : predicateOf(message))
    }
    for (const key of Object.keys(isRecord(fields) ? fields : {})) {
      if (Object.hasOwn(schema.shape, key)) continue
      this.at(key).warning(`Unknown key ${quotedName(key)} is ignored.`)
    }
    return parsed.data
  }

  #report(severity: SkillFinding['severity'], message: string): void {
    this.#tree.findings.push({ severity, line: this.#tree.lineOf(this.#path), message })
  }
}

/** A name from a file, for a message. */
export function quotedName(name: string): string {
  return quote(shorten(name, 80))
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function valueAt(value: unknown, path: Path): unknown {
  let found = value
  for (const part of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = Object.getOwnPropertyDescriptor(found, part)?.value
  }
  return found
}

/** Our messages continue "it …"; those of the validator are sentences. */
function predicateOf(message: string): string {
  return /^[a-z]/.test(message) ? message : `is invalid: ${message.replace(/^Invalid input: /, '')}`
}

/** A YAML text as plain values, with the lines of its parts. */
interface YamlTree {
  readonly value: unknown
  /** The line of the part at a path, or of the nearest part above it. */
  readonly lineOf: (path: Path) => number
  /** How a number or a word such as `true` is written. */
  readonly sourceOf: (path: Path) => string | undefined
  readonly findings: SkillFinding[]
}

type Path = readonly (string | number)[]

/** Deeper values have no use in front matter, and Events are bounded too. */
const MOST_LEVELS = 16

/** Parses YAML 1.2 with the types of JSON only. Aliases, complex keys and repeated keys are errors. Never throws. */
function yamlTree(text: string): YamlTree {
  const counter = new LineCounter()
  const findings: SkillFinding[] = []
  const lines = new Map<string, number>()
  const sources = new Map<string, string>()
  const lineAtOffset = (offset: number) => counter.linePos(offset).line + YAML_LINE - 1
  const report = (severity: SkillFinding['severity'], line: number, message: string): undefined => {
    findings.push({ severity, line, message })
  }

  const plain = (node: ParsedNode | null, path: Path): unknown => {
    if (node === null) return null
    const key = pathKey(path)
    const line = lineAtOffset(node.range[0])
    // The line of the key of an entry is set by its map, and is the better one.
    if (!lines.has(key)) lines.set(key, line)
    if (isAlias(node)) return report('error', line, 'Aliases (*name) are not supported.')
    if (isScalar(node)) return scalarAt(node, key, sources)
    if (path.length >= MOST_LEVELS) return report('error', line, 'This is nested too deeply.')
    if (isSeq(node)) return node.items.map((item, at) => plain(item, [...path, at]))
    const entries: [string, unknown][] = []
    const known = new Set<string>()
    for (const { key: name, value } of isMap(node) ? node.items : []) {
      const at = lineAtOffset(name.range[0])
      const word = isScalar(name) ? name.source : undefined
      if (word === undefined) report('error', at, 'A key must be a word.')
      else if (known.has(word)) report('error', at, `${quotedName(word)} is there twice.`)
      else {
        known.add(word)
        lines.set(pathKey([...path, word]), at)
        entries.push([word, plain(value, [...path, word])])
      }
    }
    return Object.fromEntries(entries)
  }

  const deepLine = deepLineIn(text)
  const parsed = deepLine === undefined ? documentOf(text, counter) : undefined
  if (parsed === undefined) {
    const line = (deepLine ?? 0) + YAML_LINE
    report('error', line, `The front matter is nested in more than ${MOST_LEVELS} levels.`)
  }
  for (const { pos, message } of parsed?.errors ?? []) {
    report('error', lineAtOffset(pos[0]), `Invalid YAML: ${parserSentence(message)}`)
  }
  for (const { pos, message } of parsed?.warnings ?? []) {
    report('warning', lineAtOffset(pos[0]), parserSentence(message))
  }
  const isWhole = parsed !== undefined && parsed.errors.length === 0
  const value = isWhole ? plain(parsed.contents, []) : undefined
  return {
    value,
    findings,
    lineOf: (path) => {
      for (let length = path.length; length > 0; length -= 1) {
        const line = lines.get(pathKey(path.slice(0, length)))
        if (line !== undefined) return line
      }
      return YAML_LINE - 1
    },
    sourceOf: (path) => sources.get(pathKey(path)),
  }
}

/** `undefined` if the text is nested more deeply than the stack allows: the parser throws, or reports what it caught. */
function documentOf(text: string, lineCounter: LineCounter) {
  try {
    // Repeated keys are found above: the check of the parser takes quadratic time.
    const parsed = parseDocument(text, {
      lineCounter,
      schema: 'core',
      uniqueKeys: false,
      logLevel: 'error',
    })
    return parsed.errors.some(({ message }) => message.includes('call stack')) ? undefined : parsed
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * The first line, from 0, on which brackets or the marks of items nest more deeply than is allowed. The parser calls itself for
 * each level; the lexer does not. Levels by indentation alone are few: the length of front matter is limited.
 */
function deepLineIn(text: string): number | undefined {
  let line = 0
  let brackets = 0
  let items = 0
  let isText = false
  for (const token of new Lexer().lex(text)) {
    if (!isText) {
      if (token === '[' || token === '{') brackets += 1
      if (token === ']' || token === '}') brackets -= 1
      if (token === '-' || token === '?') items += 1
      if (brackets > MOST_LEVELS || items > MOST_LEVELS) return line
    }
    const lines = token.split('\n').length - 1
    line += lines
    if (lines > 0) items = 0
    isText = token === SCALAR_FOLLOWS
  }
  return undefined
}

/** What the lexer returns before the text of an unquoted scalar. */
const SCALAR_FOLLOWS = '\u001f'

function scalarAt(node: Scalar.Parsed, key: string, sources: Map<string, string>): unknown {
  const { value, source } = node
  if (typeof value === 'number' || typeof value === 'boolean') sources.set(key, source)
  if (typeof value === 'bigint') return node.source
  return value === undefined ? null : value
}

function pathKey(path: Path): string {
  return JSON.stringify(path)
}

/** Messages of the parser continue with an excerpt of the text. */
function parserSentence(message: string): string {
  return quotedInside(message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '.')
}

/** A message may repeat what the text says. */
function quotedInside(message: string): string {
  return quote(shorten(message, 200)).slice(1, -1).replaceAll('\\"', '"')
}
