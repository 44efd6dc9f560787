/** The line of a text that was probably intended. */
export interface NearestLine {
  /** Counted from 1. */
  readonly line: number
  readonly text: string
  /** The search text included the line number that `read` shows. */
  readonly numbers: boolean
}

/**
 * The line of `text` that is most similar to the first non-blank line of `search`. A line that differs in white space
 * only comes first; otherwise the one that shares most pairs of letters, if it shares half of them.
 */
export function nearestLine(text: string, search: string): NearestLine | undefined {
  const first = search.split('\n').find((line) => line.trim() !== '')
  if (first === undefined) return undefined
  const numbers = /^ *\d+\t/.test(first)
  const target = letters(numbers ? first.replace(/^ *\d+\t/, '') : first)
  const lines = text.split('\n').slice(0, MOST_LINES)
  const same = lines.findIndex((line) => letters(line) === target)
  const found = same === -1 ? mostAlike(lines, target) : same
  const line = lines[found]
  return line === undefined ? undefined : { line: found + 1, text: line.trim(), numbers }
}

/** Limits the time spent on a hint. */
const MOST_LINES = 20_000
const MOST_LETTERS = 400
const LEAST_ALIKE = 0.5

function letters(line: string): string {
  return line.replaceAll(/\s/g, '').slice(0, MOST_LETTERS)
}

function mostAlike(lines: readonly string[], target: string): number {
  const pairs = pairsOf(target)
  let [best, most] = [-1, LEAST_ALIKE]
  for (const [at, line] of lines.entries()) {
    const own = letters(line)
    const likeness = own.length < 2 ? 0 : sharedPairs(pairs, own) / (pairs.size + own.length - 1)
    if (likeness >= most) [best, most] = [at, likeness + Number.EPSILON]
  }
  return best
}

function pairsOf(text: string): ReadonlySet<string> {
  return new Set(
    Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)),
  )
}

function sharedPairs(pairs: ReadonlySet<string>, text: string): number {
  const own = pairsOf(text)
  return 2 * [...own].filter((pair) => pairs.has(pair)).length
}
