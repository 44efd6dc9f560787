import { failed, ok, type Failed, type Result } from '../../model/errors.ts'

/** Limits of all file systems, checked here so that they count as a mistake of the caller and not of the disk. */
const PATH_BYTES = 4095
const NAME_BYTES = 255
const SHOWN_LETTERS = 200

/**
 * The segments of a path below the root; none for the root itself. Considers the text only, so a link is just a name here.
 * `roots` are the spellings of the root that an absolute path may start with.
 */
export function segmentsOf(path: string, roots: readonly string[]): Result<readonly string[]> {
  const problem = pathProblem(path)
  if (problem !== undefined) {
    return failed('invalid_args', `The path ${shownPath(path)} ${problem}.`, { reason: 'path' })
  }
  if (!path.startsWith('/')) {
    const segments = settleSegments(path)
    return segments === undefined || segments[0] === '~' ? outside(path) : ok(segments)
  }
  const segments = settleSegments(path) ?? []
  const below = roots.map((root) => segmentsBelow(segments, settleSegments(root) ?? []))
  const found = below.find((rest) => rest !== undefined)
  return found === undefined ? outside(path) : ok(found)
}

/** The segments of `inner` beyond `outer`, if it lies in or at `outer`. */
export function segmentsBelow(
  inner: readonly string[],
  outer: readonly string[],
): readonly string[] | undefined {
  return outer.every((name, at) => name === inner[at]) ? inner.slice(outer.length) : undefined
}

/** Compares segments: `/ws-evil` is not in `/ws`. Both are absolute. */
export function liesIn(path: string, folder: string): boolean {
  return segmentsBelow(settleSegments(path) ?? [], settleSegments(folder) ?? []) !== undefined
}

/** An untrusted name, safe to show to people and models: nothing in it moves a cursor or changes the reading direction. */
export function shownPath(path: string): string {
  const plain = path.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (letter) => {
    return `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`
  })
  const letters = Array.from(plain)
  return letters.length > SHOWN_LETTERS ? `${letters.slice(0, SHOWN_LETTERS).join('')}…` : plain
}

export function outside(path: string): Failed {
  return failed('outside_workspace', `${shownPath(path)} is outside the workspace.`, {}, [
    { action: 'Use a path inside the workspace.' },
  ])
}

export function untouchable(path: string): Failed {
  return failed('protected_path', `${shownPath(path)} is reserved for Hawser.`, { by: 'hawser' })
}

export function absent(path: string): Failed {
  return failed('not_found', `${shownPath(path)} does not exist.`)
}

function pathProblem(path: string): string | undefined {
  if (path === '') return 'is empty'
  if (path.includes('\0')) return 'contains a NUL character'
  if (Buffer.byteLength(path) > PATH_BYTES) return 'is too long'
  if (path.split('/').some((name) => Buffer.byteLength(name) > NAME_BYTES)) {
    return 'contains a name that is too long'
  }
  return undefined
}

/**
 * Removes `.` and `..`. Returns `undefined` for a relative path that climbs above its start; an absolute one stays at the
 * top.
 */
function settleSegments(path: string): string[] | undefined {
  const segments: string[] = []
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue
    if (name !== '..') segments.push(name)
    else if (segments.pop() === undefined && !path.startsWith('/')) return undefined
  }
  return segments
}

/** The names of a path, without those that name nothing. */
export function pathNames(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}
