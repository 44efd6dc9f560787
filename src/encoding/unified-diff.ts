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

export function lineDiff(before: string, after: string): LineDiff {
  const [old, fresh] = [linesOf(before), linesOf(after)]
  const changes = changesBetween(old, fresh)
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
export function unifiedDiff(name: string, before: string, after: string): string {
  return lineDiff(before, after).unified(name)
}

const AROUND = 3

/** Above this many changed lines the diff is not minimal: the cost grows with their square. */
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
function changesBetween(old: readonly string[], fresh: readonly string[]): Change[] {
  let start = 0
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++
  let [oldEnd, newEnd] = [old.length, fresh.length]
  while (oldEnd > start && newEnd > start && old[oldEnd - 1] === fresh[newEnd - 1]) {
    oldEnd--
    newEnd--
  }
  const shortest = shortestScript(old.slice(start, oldEnd), fresh.slice(start, newEnd))
  return joined(
    shortest.map(({ oldFrom, oldTo, newFrom, newTo }) => ({
      oldFrom: oldFrom + start,
      oldTo: oldTo + start,
      newFrom: newFrom + start,
      newTo: newTo + start,
    })),
  )
}

/** Myers' algorithm: the furthest position on each diagonal for each number of changes, then the path back. */
function shortestScript(old: readonly string[], fresh: readonly string[]): Change[] {
  const whole = { oldFrom: 0, oldTo: old.length, newFrom: 0, newTo: fresh.length }
  if (old.length === 0 && fresh.length === 0) return []
  if (old.length === 0 || fresh.length === 0) return [whole]
  const most = Math.min(old.length + fresh.length, MOST_CHANGES)
  const rounds: Int32Array[] = []
  // Index `most + diagonal`; a diagonal is the position in the old text minus that in the new text.
  const furthest = new Int32Array(2 * most + 2)
  for (let changes = 0; changes <= most; changes++) {
    rounds.push(furthest.slice())
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = stepTo(furthest, most, diagonal, changes)
      while (x < old.length && x - diagonal < fresh.length && old[x] === fresh[x - diagonal]) x++
      furthest[most + diagonal] = x
      if (x >= old.length && x - diagonal >= fresh.length) {
        return wayBack(rounds, most, old.length, fresh.length)
      }
    }
  }
  return [whole]
}

/** The entry to a diagonal: an insertion from the one above, or a deletion from the one below. */
function stepTo(furthest: Int32Array, most: number, diagonal: number, changes: number): number {
  return insertsFirst(furthest, most, diagonal, changes)
    ? (furthest[most + diagonal + 1] ?? 0)
    : (furthest[most + diagonal - 1] ?? 0) + 1
}

function insertsFirst(
  furthest: Int32Array,
  most: number,
  diagonal: number,
  changes: number,
): boolean {
  if (diagonal === -changes) return true
  if (diagonal === changes) return false
  return (furthest[most + diagonal - 1] ?? 0) < (furthest[most + diagonal + 1] ?? 0)
}

function wayBack(rounds: readonly Int32Array[], most: number, x: number, y: number): Change[] {
  const script: Change[] = []
  for (let changes = rounds.length - 1; changes > 0; changes--) {
    const furthest = rounds[changes] ?? new Int32Array()
    const diagonal = x - y
    const inserts = insertsFirst(furthest, most, diagonal, changes)
    const before = diagonal + (inserts ? 1 : -1)
    const fromX = furthest[most + before] ?? 0
    const fromY = fromX - before
    script.push(
      inserts
        ? { oldFrom: fromX, oldTo: fromX, newFrom: fromY, newTo: fromY + 1 }
        : { oldFrom: fromX, oldTo: fromX + 1, newFrom: fromY, newTo: fromY },
    )
    x = fromX
    y = fromY
  }
  return script.reverse()
}

function joined(changes: readonly Change[]): Change[] {
  const runs: Change[] = []
  for (const change of changes) {
    const last = runs.at(-1)
    if (last?.oldTo === change.oldFrom && last.newTo === change.newFrom) {
      runs[runs.length - 1] = { ...last, oldTo: change.oldTo, newTo: change.newTo }
    } else runs.push(change)
  }
  return runs
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
