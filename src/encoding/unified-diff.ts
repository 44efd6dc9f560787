import type { ChangeObject } from 'diff'

/** What differs between two texts, by lines; only `\n` ends a line. */
export interface LineDiff {
  readonly added: number
  readonly removed: number
  /** In order: the first and the last line of each change in the second text, counted from 1. A deletion has the line that took its place. */
  readonly places: readonly { readonly from: number; readonly to: number }[]
  /**
   * In the format of `diff -u`, with three lines of context; empty if the texts are equal. Applying it to the first text gives
   * exactly the second.
   */
  readonly unified: (name: string) => string
}

export async function lineDiff(before: string, after: string): Promise<LineDiff> {
  const [old, fresh] = [linesOf(before), linesOf(after)]
  const changes = await changesBetween(old, fresh)
  return {
    added: changes.reduce((sum, { newFrom, newTo }) => sum + newTo - newFrom, 0),
    removed: changes.reduce((sum, { oldFrom, oldTo }) => sum + oldTo - oldFrom, 0),
    places: changes.map(({ newFrom, newTo }) => {
      const from = Math.max(1, Math.min(newFrom + 1, fresh.length))
      return { from, to: Math.max(from, newTo) }
    }),
    unified: (name) => {
      const body = hunksOf(changes).flatMap((hunk) => hunkLines(hunk, old, fresh))
      return body.length === 0 ? '' : [`--- a/${name}`, `+++ b/${name}`, ...body].join('\n') + '\n'
    },
  }
}

/** The unified form of a `lineDiff`. */
export async function unifiedDiff(name: string, before: string, after: string): Promise<string> {
  return (await lineDiff(before, after)).unified(name)
}

const AROUND = 3

/** Texts with more changed lines are one change from the first to the last of them: the cost grows with the square. */
const MOST_CHANGES = 1_000

/** Lines `[oldFrom, oldTo)` of the first text became lines `[newFrom, newTo)` of the second. */
interface Change {
  readonly oldFrom: number
  readonly oldTo: number
  readonly newFrom: number
  readonly newTo: number
}

/** Each line includes its newline, so a last line without one is a different line. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/)
}

/** In order and not adjacent to each other. */
async function changesBetween(old: readonly string[], fresh: readonly string[]): Promise<Change[]> {
  let start = 0
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++
  let [oldEnd, newEnd] = [old.length, fresh.length]
  while (oldEnd > start && newEnd > start && old[oldEnd - 1] === fresh[newEnd - 1]) {
    oldEnd--
    newEnd--
  }
  const whole = { oldFrom: start, oldTo: oldEnd, newFrom: start, newTo: newEnd }
  if (start === oldEnd && start === newEnd) return []
  if (start === oldEnd || start === newEnd) return [whole]
  const [removed, added] = [old.slice(start, oldEnd), fresh.slice(start, newEnd)]
  // Known without a search for the shortest way, which would take long to give up.
  if (missing(removed, added) + missing(added, removed) > MOST_CHANGES) return [whole]
  // Loaded for the first such change: most processes compare no texts.
  const { diffArrays } = await import('diff')
  const runs = diffArrays(removed, added, { maxEditLength: MOST_CHANGES })
  return runs === undefined ? [whole] : changesOf(runs, start)
}

/** How many of the lines are not among the others. */
function missing(lines: readonly string[], others: readonly string[]): number {
  const known = new Set(others)
  return lines.filter((line) => !known.has(line)).length
}

/** Runs of removed and added lines without a common line between them are one change. */
function changesOf(runs: readonly ChangeObject<string[]>[], start: number): Change[] {
  const changes: Change[] = []
  let [oldAt, newAt] = [start, start]
  for (const { added, removed, count } of runs) {
    const [oldFrom, newFrom] = [oldAt, newAt]
    if (!added) oldAt += count
    if (!removed) newAt += count
    if (!added && !removed) continue
    const last = changes.at(-1)
    const joins = last?.oldTo === oldFrom && last.newTo === newFrom
    const from = joins ? last : { oldFrom, newFrom }
    if (joins) changes.pop()
    changes.push({ oldFrom: from.oldFrom, oldTo: oldAt, newFrom: from.newFrom, newTo: newAt })
  }
  return changes
}

/** Changes whose context would touch form one hunk. */
function hunksOf(changes: readonly Change[]): Change[][] {
  const hunks: Change[][] = []
  for (const change of changes) {
    const last = hunks.at(-1)
    const end = last?.at(-1)?.oldTo ?? -Infinity
    if (last !== undefined && change.oldFrom - end <= 2 * AROUND) last.push(change)
    else hunks.push([change])
  }
  return hunks
}

function hunkLines(
  hunk: readonly Change[],
  old: readonly string[],
  fresh: readonly string[],
): string[] {
  const [first, last] = [hunk[0], hunk.at(-1)]
  if (first === undefined || last === undefined) return []
  const before = Math.min(AROUND, first.oldFrom)
  const after = Math.min(AROUND, old.length - last.oldTo)
  const oldFrom = first.oldFrom - before
  const oldCount = last.oldTo + after - oldFrom
  const newFrom = first.newFrom - before
  const newCount = last.newTo + after - newFrom
  const lines = [`@@ -${span(oldFrom, oldCount)} +${span(newFrom, newCount)} @@`]
  let at = oldFrom
  for (const change of hunk) {
    lines.push(...marked(' ', old.slice(at, change.oldFrom)))
    lines.push(...marked('-', old.slice(change.oldFrom, change.oldTo)))
    lines.push(...marked('+', fresh.slice(change.newFrom, change.newTo)))
    at = change.oldTo
  }
  return [...lines, ...marked(' ', old.slice(at, last.oldTo + after))]
}

/** Counts from 1; an empty span is given by the line before it, and a count of 1 is omitted. */
function span(from: number, count: number): string {
  if (count === 1) return String(from + 1)
  return `${count === 0 ? from : from + 1},${count}`
}

function marked(mark: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith('\n')
      ? [mark + line.slice(0, -1)]
      : [mark + line, '\\ No newline at end of file'],
  )
}
