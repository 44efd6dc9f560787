import { z } from 'zod'

/**
 * What Node writes to `NODE_V8_COVERAGE` at the end of a process that maps its sources. A function has ranges; the first is its whole
 * text, and each further one a part of it that ran another number of times. The first function of a script is the script.
 */
const Report = z.object({
  result: z.array(
    z.object({
      url: z.string(),
      functions: z.array(
        z.object({
          ranges: z.array(
            z.object({ startOffset: z.number(), endOffset: z.number(), count: z.number() }),
          ),
        }),
      ),
    }),
  ),
  'source-map-cache': z
    .record(
      z.string(),
      z.object({
        lineLengths: z.array(z.number()),
        data: z.nullable(z.object({ mappings: z.string() })),
      }),
    )
    .default({}),
})

type Range = z.infer<typeof Report>['result'][number]['functions'][number]['ranges'][number]

/**
 * The lines of each file that ran as part of a function. A line counts if a token on it ran inside a function that was called,
 * and not in a branch of it that was left out. What runs when a file is loaded does not count: imports, constants, schemas, tables.
 * Nor do comments, blank lines and types, which have no token in the program, and lines of nothing but brackets. So the number says
 * how much of a file a reader reads who follows the steps, in lines as they are formatted.
 * `textAt` returns the text of a file below `root`, which is a URL that ends in `/`.
 */
export function executedLines(
  report: unknown,
  root: string,
  textAt: (path: string) => string,
): Map<string, Set<number>> {
  const { result, 'source-map-cache': maps } = Report.parse(report)
  const found = new Map<string, Set<number>>()
  for (const { url, functions } of result) {
    const map = maps[url]
    if (!url.startsWith(root) || map === undefined || map.data === null) continue
    const ran = innermostCount(functions.slice(1).flatMap(({ ranges }) => ranges))
    const starts = lineStarts(map.lineLengths)
    const path = url.slice(root.length)
    const texts = textAt(path).split('\n')
    const lines = segmentsOf(map.data.mappings)
      .filter(({ line, column }) => ran((starts[line] ?? 0) + column) > 0)
      .filter(({ sourceLine }) => /\w/.test(texts[sourceLine] ?? ''))
      .map(({ sourceLine }) => sourceLine + 1)
    found.set(path, new Set(lines))
  }
  return found
}

/** How often the text at an offset ran: the count of the smallest range around it; 0 outside of functions. */
function innermostCount(ranges: readonly Range[]): (offset: number) => number {
  const bySize = ranges.toSorted(
    (a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset),
  )
  return (offset) =>
    bySize.find(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset)
      ?.count ?? 0
}

function lineStarts(lengths: readonly number[]): number[] {
  let at = 0
  return lengths.map((length) => {
    const start = at
    at += length + 1
    return start
  })
}

interface Segment {
  readonly line: number
  readonly column: number
  readonly sourceLine: number
}

/** The segments of a source map with one source: groups of base64 VLQ numbers, each relative to the one before. */
function segmentsOf(mappings: string): Segment[] {
  let sourceLine = 0
  return mappings.split(';').flatMap((group, line) => {
    let column = 0
    return group.split(',').flatMap((segment) => {
      const [columns = 0, , lines = 0] = numbersOf(segment)
      column += columns
      sourceLine += lines
      return segment === '' ? [] : [{ line, column, sourceLine }]
    })
  })
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

function numbersOf(segment: string): number[] {
  const numbers: number[] = []
  let value = 0
  let shift = 0
  for (const letter of segment) {
    const digit = DIGITS.indexOf(letter)
    value += (digit & 31) << shift
    shift += 5
    if ((digit & 32) !== 0) continue
    numbers.push((value & 1) === 0 ? value >> 1 : -(value >> 1))
    value = 0
    shift = 0
  }
  return numbers
}
