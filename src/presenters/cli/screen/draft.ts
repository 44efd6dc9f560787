/** Text being edited, with the cursor offset, which is never within a grapheme. */
export interface Draft {
  readonly text: string
  readonly cursor: number
}

export const EMPTY_DRAFT: Draft = { text: '', cursor: 0 }

/** The keys that move the cursor. */
export const MOTIONS: Readonly<Record<string, (draft: Draft) => number>> = {
  left: before,
  right: after,
  'ctrl-b': before,
  'ctrl-f': after,
  home: lineStart,
  end: lineEnd,
  'ctrl-a': lineStart,
  'ctrl-e': lineEnd,
  'ctrl-home': () => 0,
  'ctrl-end': ({ text }) => text.length,
  'ctrl-left': wordBefore,
  'ctrl-right': wordAfter,
  'alt-left': wordBefore,
  'alt-right': wordAfter,
  'alt-b': wordBefore,
  'alt-f': wordAfter,
}

/** The keys that delete, by where they delete to. */
export const DELETIONS: Readonly<Record<string, (draft: Draft) => number>> = {
  backspace: before,
  delete: after,
  'ctrl-d': after,
}

/** The same for keys whose text can be put back with Ctrl-Y. */
export const KILLS: Readonly<Record<string, (draft: Draft) => number>> = {
  'ctrl-w': blankBefore,
  'alt-backspace': wordBefore,
  'alt-d': wordAfter,
  // At the start or end of a line these delete the line break.
  'ctrl-u': (draft) => orOneBefore(draft, lineStart(draft)),
  'ctrl-k': (draft) => orOneAfter(draft, lineEnd(draft)),
}

export const LINE_BREAKS: ReadonlySet<string> = new Set(['ctrl-j', 'alt-enter', 'shift-enter'])

/** All keys that edit a draft by itself, such as the reason of an answer. */
export const EDITS: Readonly<Record<string, (draft: Draft) => Draft>> = {
  ...mapEach(MOTIONS, (draft, to) => moveTo(draft, to)),
  ...mapEach({ ...DELETIONS, ...KILLS }, (draft, to) => deleteTo(draft, to)),
  ...Object.fromEntries(
    [...LINE_BREAKS].map((key) => [key, (draft: Draft) => insertText(draft, '\n')]),
  ),
}

function mapEach(
  places: Readonly<Record<string, (draft: Draft) => number>>,
  act: (draft: Draft, to: number) => Draft,
): Record<string, (draft: Draft) => Draft> {
  return Object.fromEntries(
    Object.entries(places).map(([key, place]) => [key, (draft: Draft) => act(draft, place(draft))]),
  )
}

export function moveTo({ text }: Draft, cursor: number): Draft {
  return { text, cursor }
}

/** Without the text between the cursor and `to`, on either side of it. */
export function deleteTo({ text, cursor }: Draft, to: number): Draft {
  const from = Math.min(cursor, to)
  return { text: text.slice(0, from) + text.slice(Math.max(cursor, to)), cursor: from }
}

export function insertText({ text, cursor }: Draft, added: string): Draft {
  return {
    text: text.slice(0, cursor) + added + text.slice(cursor),
    cursor: cursor + added.length,
  }
}

/** The same column of the line above or below; `undefined` if there is none. */
export function inOtherLine(draft: Draft, way: 'up' | 'down'): Draft | undefined {
  const start = lineStart(draft)
  const end = lineEnd(draft)
  if (way === 'up' ? start === 0 : end === draft.text.length) return undefined
  const column = graphemes(draft.text.slice(start, draft.cursor)).length
  const from = way === 'up' ? lineStart(moveTo(draft, start - 1)) : end + 1
  const line = draft.text.slice(from, lineEnd(moveTo(draft, from)))
  return moveTo(draft, from + graphemes(line).slice(0, column).join('').length)
}

/** Splits text into graphemes: what people perceive as one character. */
export function graphemes(text: string): string[] {
  return Array.from(SEGMENTER.segment(text), ({ segment }) => segment)
}

const SEGMENTER = new Intl.Segmenter()

/** How far from the cursor a grapheme is searched: texts may be long, graphemes are short. */
const NEAR = 256

export function before({ text, cursor }: Draft): number {
  return cursor - (graphemes(text.slice(Math.max(0, cursor - NEAR), cursor)).at(-1)?.length ?? 0)
}

export function after({ text, cursor }: Draft): number {
  return cursor + (graphemes(text.slice(cursor, cursor + NEAR))[0]?.length ?? 0)
}

export function lineStart({ text, cursor }: Draft): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1
}

export function lineEnd({ text, cursor }: Draft): number {
  const end = text.indexOf('\n', cursor)
  return end === -1 ? text.length : end
}

function wordBefore({ text, cursor }: Draft): number {
  return lastMatch(text.slice(0, cursor), /[\p{L}\p{N}\p{M}_]+[^\p{L}\p{N}\p{M}_]*$/u)
}

function blankBefore({ text, cursor }: Draft): number {
  return lastMatch(text.slice(0, cursor), /\S+\s*$/u)
}

/** Searches only the end of the text, because the pattern would otherwise be tried at every position. */
function lastMatch(text: string, pattern: RegExp): number {
  const from = Math.max(0, text.length - NEAR)
  const found = pattern.exec(text.slice(from))
  return found === null ? from : from + found.index
}

function wordAfter({ text, cursor }: Draft): number {
  const rest = text.slice(cursor, cursor + NEAR)
  const found = /^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]+/u.exec(rest)
  return cursor + (found?.[0] ?? rest).length
}

function orOneBefore(draft: Draft, at: number): number {
  return at === draft.cursor ? before(draft) : at
}

function orOneAfter(draft: Draft, at: number): number {
  return at === draft.cursor ? after(draft) : at
}
