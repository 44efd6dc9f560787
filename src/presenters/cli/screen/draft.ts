/** Text being edited, with the cursor offset, which is never within a grapheme. */
export interface Draft {
  readonly text: string
  readonly cursor: number
}

export const EMPTY_DRAFT: Draft = { text: '', cursor: 0 }

/** The editing keys. */
export const EDITS: Readonly<Record<string, (draft: Draft) => Draft>> = {
  left: (draft) => moved(draft, before(draft)),
  right: (draft) => moved(draft, after(draft)),
  'ctrl-b': (draft) => moved(draft, before(draft)),
  'ctrl-f': (draft) => moved(draft, after(draft)),
  home: (draft) => moved(draft, lineStart(draft)),
  end: (draft) => moved(draft, lineEnd(draft)),
  'ctrl-a': (draft) => moved(draft, lineStart(draft)),
  'ctrl-e': (draft) => moved(draft, lineEnd(draft)),
  'ctrl-home': (draft) => moved(draft, 0),
  'ctrl-end': (draft) => moved(draft, draft.text.length),
  'ctrl-left': (draft) => moved(draft, wordBefore(draft)),
  'ctrl-right': (draft) => moved(draft, wordAfter(draft)),
  'alt-left': (draft) => moved(draft, wordBefore(draft)),
  'alt-right': (draft) => moved(draft, wordAfter(draft)),
  'alt-b': (draft) => moved(draft, wordBefore(draft)),
  'alt-f': (draft) => moved(draft, wordAfter(draft)),
  backspace: (draft) => without(draft, before(draft), draft.cursor),
  delete: (draft) => without(draft, draft.cursor, after(draft)),
  'ctrl-d': (draft) => without(draft, draft.cursor, after(draft)),
  'ctrl-w': (draft) => without(draft, blankBefore(draft), draft.cursor),
  'alt-backspace': (draft) => without(draft, wordBefore(draft), draft.cursor),
  'alt-d': (draft) => without(draft, draft.cursor, wordAfter(draft)),
  // At the start or end of a line these delete the line break.
  'ctrl-u': (draft) => without(draft, orOneBefore(draft, lineStart(draft)), draft.cursor),
  'ctrl-k': (draft) => without(draft, draft.cursor, orOneAfter(draft, lineEnd(draft))),
  'ctrl-j': (draft) => insertText(draft, '\n'),
  'alt-enter': (draft) => insertText(draft, '\n'),
  'shift-enter': (draft) => insertText(draft, '\n'),
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
  const from = way === 'up' ? lineStart(moved(draft, start - 1)) : end + 1
  const line = draft.text.slice(from, lineEnd(moved(draft, from)))
  return moved(draft, from + graphemes(line).slice(0, column).join('').length)
}

/** Splits text into graphemes: what people perceive as one character. */
export function graphemes(text: string): string[] {
  return Array.from(SEGMENTER.segment(text), ({ segment }) => segment)
}

const SEGMENTER = new Intl.Segmenter()

/** How far from the cursor a grapheme is searched: texts may be long, graphemes are short. */
const NEAR = 256

function before({ text, cursor }: Draft): number {
  return cursor - (graphemes(text.slice(Math.max(0, cursor - NEAR), cursor)).at(-1)?.length ?? 0)
}

function after({ text, cursor }: Draft): number {
  return cursor + (graphemes(text.slice(cursor, cursor + NEAR))[0]?.length ?? 0)
}

function lineStart({ text, cursor }: Draft): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1
}

function lineEnd({ text, cursor }: Draft): number {
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

function moved({ text }: Draft, cursor: number): Draft {
  return { text, cursor }
}

function without({ text }: Draft, from: number, to: number): Draft {
  return { text: text.slice(0, from) + text.slice(to), cursor: from }
}
