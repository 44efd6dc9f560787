import type { StructuredPatchHunk } from 'diff'

/** What differs between two texts, by lines; only `\n` ends a line. */
export interface LineDiff {
  readonly addedLines: number
  readonly removedLines: number
  /** The first and the last line of each change in the second text, in order, from 1. A deletion has the line that took its place. */
  readonly places: readonly { readonly from: number; readonly to: number }[]
  /**
   * In the format of `diff -u`, with three lines of context; empty if the texts are equal. Applying it to the first text gives
   * exactly the second.
   */
  readonly toPatch: (name: string) => string
}

export async function lineDiff(before: string, after: string): Promise<LineDiff> {
  const hunks = before === after ? [] : await hunksBetween(before, after)
  const lines = hunks.flatMap((hunk) => hunk.lines)
  const lastLine = Math.max(1, linesOf(after).length)
  return {
    addedLines: lines.filter((line) => line.startsWith('+')).length,
    removedLines: lines.filter((line) => line.startsWith('-')).length,
    places: hunks.flatMap((hunk) => placesIn(hunk, lastLine)),
    toPatch: (name) => {
      const body = hunks.flatMap((hunk) => [headerOf(hunk), ...hunk.lines])
      return body.length === 0 ? '' : [`--- a/${name}`, `+++ b/${name}`, ...body].join('\n') + '\n'
    },
  }
}

/** The unified form of a `lineDiff`. */
export async function unifiedDiff(name: string, before: string, after: string): Promise<string> {
  return (await lineDiff(before, after)).toPatch(name)
}

const AROUND = 3

/** Texts with more changed lines are one change from the first to the last of them: the cost grows with the square. */
const MOST_CHANGES = 1_000

async function hunksBetween(before: string, after: string): Promise<StructuredPatchHunk[]> {
  const [old, fresh] = [linesOf(before), linesOf(after)]
  // Known without a search for the shortest way, which would take long to give up.
  const changes = missingFrom(old, fresh) + missingFrom(fresh, old)
  if (before === '' || after === '' || changes > MOST_CHANGES) return [wholeHunk(old, fresh)]
  // Loaded for the first such change: most processes compare no texts.
  const { structuredPatch } = await import('diff')
  const limits = { context: AROUND, maxEditLength: MOST_CHANGES }
  const patch = structuredPatch('', '', before, after, '', '', limits)
  return patch?.hunks ?? [wholeHunk(old, fresh)]
}

/** How many of the lines are not among the others. */
function missingFrom(lines: readonly string[], others: readonly string[]): number {
  const known = new Set(others)
  return lines.filter((line) => !known.has(line)).length
}

/** Everything from the first line that differs to the last. */
function wholeHunk(old: readonly string[], fresh: readonly string[]): StructuredPatchHunk {
  const shorter = Math.min(old.length, fresh.length)
  let start = 0
  while (start < shorter && old[start] === fresh[start]) start += 1
  let same = 0
  while (same < shorter - start && old.at(-1 - same) === fresh.at(-1 - same)) same += 1
  const from = Math.max(0, start - AROUND)
  const [oldEnd, newEnd] = [old.length - same, fresh.length - same]
  const around = old.slice(oldEnd, oldEnd + AROUND)
  return {
    oldStart: from + 1,
    oldLines: oldEnd + around.length - from,
    newStart: from + 1,
    newLines: newEnd + around.length - from,
    lines: [
      ...markLines(' ', old.slice(from, start)),
      ...markLines('-', old.slice(start, oldEnd)),
      ...markLines('+', fresh.slice(start, newEnd)),
      ...markLines(' ', around),
    ],
  }
}

/** Each line includes its newline, so a last line without one is a different line. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/)
}

function markLines(mark: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith('\n')
      ? [mark + line.slice(0, -1)]
      : [mark + line, '\\ No newline at end of file'],
  )
}

/** Removed and added lines without a common line between them are one change. */
function placesIn({ newStart, lines }: StructuredPatchHunk, lastLine: number): LineDiff['places'] {
  const places: { from: number; to: number }[] = []
  let at = newStart
  let last = ' '
  for (const mark of lines.map(([first = '']) => first).filter((first) => first !== '\\')) {
    const from = Math.min(at, lastLine)
    if (mark !== ' ' && last === ' ') places.push({ from, to: from })
    const change = places.at(-1)
    if (mark === '+' && change !== undefined) change.to = at
    if (mark !== '-') at += 1
    last = mark
  }
  return places
}

function headerOf({ oldStart, oldLines, newStart, newLines }: StructuredPatchHunk): string {
  return `@@ -${span(oldStart, oldLines)} +${span(newStart, newLines)} @@`
}

/** An empty span is given by the line before it, and a count of 1 is omitted. */
function span(from: number, count: number): string {
  if (count === 1) return String(from)
  return `${count === 0 ? from - 1 : from},${count}`
}
