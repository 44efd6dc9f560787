import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type ParsedNode,
  type Scalar,
} from 'yaml'
import { quoted, shortened } from '../encoding/quote.ts'
import { YAML_LINE, type Finding } from './split-skill.ts'

/** A YAML text as plain values, with the lines of its parts. */
export interface YamlTree {
  /** Only null, strings, numbers, booleans, lists and objects; no cycle. */
  readonly value: unknown
  /** The line of the part at a path, or of the nearest part above it. */
  readonly lineOf: (path: Path) => number
  /** How a number or a word such as `true` is written, so that `007` stays what it is. */
  readonly sourceOf: (path: Path) => string | undefined
  readonly findings: readonly Finding[]
}

export type Path = readonly (string | number)[]

/** Deeper values have no use in front matter, and Events are bounded too. */
const MOST_LEVELS = 16

/** Parses YAML 1.2 with the types of JSON only. Aliases, complex keys and repeated keys are errors. Never throws. */
export function yamlTree(text: string): YamlTree {
  const counter = new LineCounter()
  const findings: Finding[] = []
  const lines = new Map<string, number>()
  const sources = new Map<string, string>()
  const lineAtOffset = (offset: number) => counter.linePos(offset).line + YAML_LINE - 1
  const report = (severity: Finding['severity'], line: number, message: string): undefined => {
    findings.push({ severity, line, message })
  }

  const plain = (node: ParsedNode | null, path: Path): unknown => {
    if (node === null) return null
    const key = keyOf(path)
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
      else if (known.has(word)) report('error', at, `${shown(word)} is there twice.`)
      else {
        known.add(word)
        lines.set(keyOf([...path, word]), at)
        entries.push([word, plain(value, [...path, word])])
      }
    }
    return Object.fromEntries(entries)
  }

  const parsed = documentOf(text, counter)
  if (parsed === undefined) report('error', YAML_LINE, 'The front matter is nested too deeply.')
  for (const { pos, message } of parsed?.errors ?? []) {
    report('error', lineAtOffset(pos[0]), `Invalid YAML: ${firstLine(message)}`)
  }
  for (const { pos, message } of parsed?.warnings ?? []) {
    report('warning', lineAtOffset(pos[0]), firstLine(message))
  }
  const isWhole = parsed !== undefined && parsed.errors.length === 0
  const value = isWhole ? plain(parsed.contents, []) : undefined
  return {
    value,
    findings,
    lineOf: (path) => {
      for (let length = path.length; length > 0; length -= 1) {
        const line = lines.get(keyOf(path.slice(0, length)))
        if (line !== undefined) return line
      }
      return YAML_LINE - 1
    },
    sourceOf: (path) => sources.get(keyOf(path)),
  }
}

/** A name from a file, for a message. */
export function shown(name: string): string {
  return quoted(shortened(name, 80))
}

/** `undefined` if the text is nested more deeply than the stack allows. */
function documentOf(text: string, lineCounter: LineCounter) {
  try {
    // Repeated keys are found above: the check of the parser takes quadratic time.
    return parseDocument(text, {
      lineCounter,
      schema: 'core',
      uniqueKeys: false,
      logLevel: 'error',
    })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function scalarAt(node: Scalar.Parsed, key: string, sources: Map<string, string>): unknown {
  const { value, source } = node
  if (typeof value === 'number' || typeof value === 'boolean') sources.set(key, source)
  if (typeof value === 'bigint') return node.source
  return value === undefined ? null : value
}

function keyOf(path: Path): string {
  return JSON.stringify(path)
}

/** Messages of the parser continue with an excerpt of the text. */
function firstLine(message: string): string {
  return quotedInside(message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '.')
}

/** A message may repeat what the text says. */
function quotedInside(message: string): string {
  return quoted(shortened(message, 200)).slice(1, -1).replaceAll('\\"', '"')
}
