import { failed, ok, type Failed, type Result } from '../../model/errors.ts'

/** What no file system takes; said here, so that it is told as a mistake of the caller and not of the disk. */
const PATH_BYTES = 4095
const NAME_BYTES = 255
const SHOWN_LETTERS = 200

/**
 * The place below the root that a path means, segment by segment; none for the root itself. Looks at words only, so a
 * link is still a name here. `roots` are the spellings of the root that an absolute path may begin with.
 */
export function segmentsOf(path: string, roots: readonly string[]): Result<readonly string[]> {
  const offence = unusable(path)
  if (offence !== undefined) {
    return failed('invalid_args', `The path ${shownPath(path)} ${offence}.`, { reason: 'path' })
  }
  if (!path.startsWith('/')) {
    const segments = settled(path)
    return segments === undefined || segments[0] === '~' ? outside(path) : ok(segments)
  }
  const segments = settled(path) ?? []
  const below = roots.map((root) => segmentsBelow(segments, settled(root) ?? []))
  const found = below.find((rest) => rest !== undefined)
  return found === undefined ? outside(path) : ok(found)
}

/** The segments that `inner` has more than `outer`, when it lies in or at `outer`. */
export function segmentsBelow(
  inner: readonly string[],
  outer: readonly string[],
): readonly string[] | undefined {
  return outer.every((name, at) => name === inner[at]) ? inner.slice(outer.length) : undefined
}

/** By segment: `/ws-evil` does not lie in `/ws`. Both are absolute. */
export function liesIn(path: string, folder: string): boolean {
  return segmentsBelow(settled(path) ?? [], settled(folder) ?? []) !== undefined
}

/** A name from outside as people and models may see it: nothing in it moves a cursor or turns the reading direction. */
export function shownPath(path: string): string {
  const plain = path.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (letter) => {
    return `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`
  })
  const letters = Array.from(plain)
  return letters.length > SHOWN_LETTERS ? `${letters.slice(0, SHOWN_LETTERS).join('')}…` : plain
}

export function outside(path: string): Failed {
  return failed('outside_workspace', `${shownPath(path)} does not lie in the workspace.`, {}, [
    { action: 'Use a path inside the workspace.' },
  ])
}

export function untouchable(path: string): Failed {
  return failed('protected_path', `${shownPath(path)} belongs to Hawser itself.`, { by: 'hawser' })
}

export function absent(path: string): Failed {
  return failed('not_found', `${shownPath(path)} is not there.`)
}

function unusable(path: string): string | undefined {
  if (path === '') return 'is empty'
  if (path.includes('\0')) return 'has a NUL in it'
  if (Buffer.byteLength(path) > PATH_BYTES) return 'is too long'
  if (path.split('/').some((name) => Buffer.byteLength(name) > NAME_BYTES)) {
    return 'has a name in it that is too long'
  }
  return undefined
}

/** Without `.` and `..`. A relative path that climbs above its start has no place; an absolute one stays at the top. */
function settled(path: string): string[] | undefined {
  const segments: string[] = []
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue
    if (name !== '..') segments.push(name)
    else if (segments.pop() === undefined && !path.startsWith('/')) return undefined
  }
  return segments
}
