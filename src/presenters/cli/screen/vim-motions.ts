import { after, before, inOtherLine, lineEnd, lineStart, moveTo, type Draft } from './draft.ts'

/** A search in the line of the cursor, for `;` and `,` too. */
export interface SignSearch {
  readonly way: 'f' | 'F' | 't' | 'T'
  readonly sign: string
}

export interface Motion {
  readonly to: number
  /** An operator takes the character at `to` as well. */
  readonly inclusive?: boolean
  /** An operator takes whole lines. */
  readonly linewise?: boolean
}

/** The motions of one key; `undefined` if there is none. */
export function motionOf(key: string, draft: Draft, count: number): Motion | undefined {
  const plain = PLAIN_MOTIONS[key]
  if (plain !== undefined) return { to: repeat(draft, count, plain) }
  switch (key) {
    case 'e':
      return { to: repeat(draft, count, wordEnd), inclusive: true }
    case '$':
      return { to: lineEnd(draft) }
    case 'j':
    case 'k':
      return lines(draft, count, key === 'j' ? 'down' : 'up')
    case 'G':
      return { to: lineStart(moveTo(draft, draft.text.length)), linewise: true }
    case 'gg':
      return { to: 0, linewise: true }
    default:
      return undefined
  }
}

/** Where a search in the line leads; `undefined` if nothing is found. */
export function searchMotion(
  draft: Draft,
  { way, sign }: SignSearch,
  count: number,
): Motion | undefined {
  const { text, cursor } = draft
  const forward = way === 'f' || way === 't'
  const isTill = way === 't' || way === 'T'
  const [from, to] = [lineStart(draft), lineEnd(draft)]
  let at = cursor
  for (let found = 0; found < count; found += 1) {
    at = forward ? text.indexOf(sign, at + 1) : at === 0 ? -1 : text.lastIndexOf(sign, at - 1)
    if (at < from || at >= to) return undefined
  }
  if (forward) return { to: isTill ? before(moveTo(draft, at)) : at, inclusive: true }
  return { to: isTill ? at + sign.length : at }
}

const PLAIN_MOTIONS: Readonly<Record<string, (draft: Draft) => number>> = {
  h: (draft) => Math.max(lineStart(draft), before(draft)),
  left: (draft) => Math.max(lineStart(draft), before(draft)),
  l: (draft) => Math.min(lineEnd(draft), after(draft)),
  right: (draft) => Math.min(lineEnd(draft), after(draft)),
  ' ': after,
  0: lineStart,
  home: lineStart,
  '^': (draft) => {
    const start = lineStart(draft)
    const blank = /^[^\S\n]*/.exec(draft.text.slice(start, lineEnd(draft)))?.[0] ?? ''
    return start + blank.length
  },
  w: (draft) => nextStart(draft, kindOf),
  W: (draft) => nextStart(draft, bigKindOf),
  b: (draft) => previousStart(draft, kindOf),
  B: (draft) => previousStart(draft, bigKindOf),
}

function repeat(draft: Draft, count: number, motion: (draft: Draft) => number): number {
  let at = draft
  for (let done = 0; done < count; done += 1) {
    const to = motion(at)
    if (to === at.cursor) break
    at = moveTo(at, to)
  }
  return at.cursor
}

function lines(draft: Draft, count: number, way: 'up' | 'down'): Motion | undefined {
  let at: Draft | undefined = draft
  for (let done = 0; done < count && at !== undefined; done += 1) at = inOtherLine(at, way)
  return at === undefined ? undefined : { to: at.cursor, linewise: true }
}

type Kind = 'blank' | 'word' | 'sign'

function kindOf(sign: string): Kind {
  if (/^\s/u.test(sign)) return 'blank'
  return /^[\p{L}\p{N}\p{M}_]/u.test(sign) ? 'word' : 'sign'
}

function bigKindOf(sign: string): Kind {
  return /^\s/u.test(sign) ? 'blank' : 'word'
}

function signAt({ text, cursor }: Draft): string {
  return text.slice(cursor, after({ text, cursor }))
}

function nextStart(draft: Draft, kind: (sign: string) => Kind): number {
  let at = draft
  const first = kind(signAt(at))
  const end = draft.text.length
  if (first !== 'blank')
    while (at.cursor < end && kind(signAt(at)) === first) at = moveTo(at, after(at))
  while (at.cursor < end && kind(signAt(at)) === 'blank') at = moveTo(at, after(at))
  return at.cursor
}

function back(draft: Draft): Draft {
  return moveTo(draft, before(draft))
}

function previousStart(draft: Draft, kind: (sign: string) => Kind): number {
  let at = back(draft)
  while (at.cursor > 0 && kind(signAt(at)) === 'blank') at = back(at)
  const own = kind(signAt(at))
  while (at.cursor > 0 && kind(signAt(back(at))) === own) at = back(at)
  return at.cursor
}

function wordEnd(draft: Draft): number {
  const { length } = draft.text
  let at = moveTo(draft, after(draft))
  while (at.cursor < length && kindOf(signAt(at)) === 'blank') at = moveTo(at, after(at))
  const own = kindOf(signAt(at))
  while (after(at) < length && kindOf(signAt(moveTo(at, after(at)))) === own)
    at = moveTo(at, after(at))
  return at.cursor >= length ? before(moveTo(draft, length)) : at.cursor
}
