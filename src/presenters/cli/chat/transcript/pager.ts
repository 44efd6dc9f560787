import type { Key } from '../../screen/keys.ts'
import { fittingParts } from '../../screen/rows.ts'
import {
  paintLine,
  wrappedVerbatim,
  type Line,
  type Palette,
  type Style,
} from '../../text/cell-width.ts'

/** A row of a pager, and the block it belongs to. */
export interface PagerRow {
  readonly line: Line
  readonly block: number
}

/** What a pager shows of its rows. */
export interface PagerState {
  /** The first visible row. */
  readonly top: number
  /** The text that was searched for last. */
  readonly query: string
  /** The text that is being input after `/`. */
  readonly input?: string
  readonly note: string
}

/** What a key means beyond a change of the state. */
export type PagerOrder = 'close' | 'copy' | 'all' | undefined

export interface PagerStep {
  readonly state: PagerState
  readonly order?: PagerOrder
}

export const NEW_PAGER: PagerState = { top: 0, query: '', note: '' }

const KEYS_HINT = ['Esc returns', '/ searches, n N', '{ } blocks', 'y copies', 'g G'] as const

/** Applies a key to a pager with `height` visible rows. Pure. */
export function pressPager(
  state: PagerState,
  key: Key,
  rows: readonly PagerRow[],
  height: number,
): PagerStep {
  const quiet = { ...state, note: '' }
  if (state.input !== undefined) return typing(quiet, state.input, key, rows, height)
  const name = key.kind === 'press' ? key.chord : key.text
  const to = (top: number): PagerStep => ({ state: at(quiet, top, rows, height) })
  const { top } = state
  switch (name) {
    case 'escape':
    case 'q':
    case 'ctrl-o':
    case 'ctrl-c':
      return { state: quiet, order: 'close' }
    case 'up':
    case 'k':
      return to(top - 1)
    case 'down':
    case 'j':
    case 'enter':
      return to(top + 1)
    case 'page-up':
    case 'ctrl-b':
    case 'b':
      return to(top - height + 1)
    case 'page-down':
    case 'ctrl-f':
    case ' ':
      return to(top + height - 1)
    case 'ctrl-u':
      return to(top - Math.floor(height / 2))
    case 'ctrl-d':
      return to(top + Math.floor(height / 2))
    case 'home':
    case 'g':
      return { ...to(0), order: 'all' }
    case 'end':
    case 'G':
      return to(rows.length)
    case '{':
      return to(blockStart(rows, (start) => start < top, 'last') ?? 0)
    case '}':
      return to(blockStart(rows, (start) => start > top, 'first') ?? top)
    case '/':
      return { state: { ...quiet, input: '' } }
    case 'n':
      return { state: findMatch(quiet, rows, height, 1), order: 'all' }
    case 'N':
      return { state: findMatch(quiet, rows, height, -1), order: 'all' }
    case 'y':
      return { state: quiet, order: 'copy' }
    default:
      return { state: quiet }
  }
}

/** The block that a copy takes: the first one that starts in view, otherwise the one that fills it. Pure. */
export function currentBlock(rows: readonly PagerRow[], top: number, height: number): number {
  const before = rows[top - 1]?.block
  const starting = rows.slice(top, top + height).find(({ block }) => block !== before)
  return (starting ?? rows[top])?.block ?? 0
}

/** Moves to the next match in a direction, around the end. Pure. */
function findMatch(
  state: PagerState,
  rows: readonly PagerRow[],
  height: number,
  step: 1 | -1,
): PagerState {
  const wanted = state.query.toLowerCase()
  if (wanted === '') return { ...state, note: 'Nothing was searched for yet: press /' }
  for (let far = 1; far <= rows.length; far += 1) {
    const place = (state.top + step * far + rows.length * 2) % rows.length
    if (textOf(rows[place]).toLowerCase().includes(wanted))
      return { ...at(state, place, rows, height), top: place }
  }
  return { ...state, note: `Not found: ${state.query}` }
}

/** The bytes that draw the whole screen. Pure. */
export function pagerBytes(
  state: PagerState,
  rows: readonly PagerRow[],
  size: {
    readonly columns: number
    readonly rows: number
    readonly colour: boolean | Palette
    readonly title: string
  },
): string {
  const height = Math.max(1, size.rows - 1)
  const shown = Array.from({ length: height }, (_, index) => rows[state.top + index]?.line ?? [])
  const lines = shown.map((line) => paintLine(highlightMatches(line, state.query), size.colour))
  const last = Math.min(rows.length, state.top + height)
  const place = fittingParts(
    [`${size.title} · ${last} of ${rows.length}`, ...KEYS_HINT],
    size.columns,
  )
  const foot = state.input === undefined ? state.note || place : `/${state.input}▏`
  const style = { bold: true, colour: 'cyan' } as const
  const footer = wrappedVerbatim([{ text: foot, style }], size.columns)[0] ?? []
  const all = [...lines, paintLine(footer, size.colour)]
  return `${SYNC}${HOME}${all.map((line) => line + ERASE_REST).join('\r\n')}${END_SYNC}`
}

/** Keeps the position between the first row and the last page. Pure. */
export function at(
  state: PagerState,
  top: number,
  rows: readonly PagerRow[],
  height: number,
): PagerState {
  return { ...state, top: Math.max(0, Math.min(top, rows.length - height)) }
}

const SYNC = '\u001b[?2026h'
const END_SYNC = '\u001b[?2026l'
const HOME = '\u001b[H'
const ERASE_REST = '\u001b[K'
const FOUND: Style = { bold: true, underline: true, colour: 'yellow' }

function typing(
  state: PagerState,
  input: string,
  key: Key,
  rows: readonly PagerRow[],
  height: number,
): PagerStep {
  const { input: _, ...done } = state
  if (key.kind !== 'press')
    return { state: { ...state, input: input + key.text.replaceAll(/\s+/g, ' ') } }
  if (key.chord === 'escape' || key.chord === 'ctrl-c') return { state: done }
  if (key.chord === 'backspace')
    return { state: input === '' ? done : { ...state, input: input.slice(0, -1) } }
  if (key.chord !== 'enter') return { state }
  const query = input === '' ? state.query : input
  // Backwards: people look for what scrolled away.
  return { state: findMatch({ ...done, query }, rows, height, -1), order: 'all' }
}

function blockStart(
  rows: readonly PagerRow[],
  fits: (start: number) => boolean,
  which: 'first' | 'last',
): number | undefined {
  const starts = rows.flatMap(({ block }, row) => (block === rows[row - 1]?.block ? [] : [row]))
  return which === 'first' ? starts.find(fits) : starts.findLast(fits)
}

function textOf(row: PagerRow | undefined): string {
  return row?.line.map(({ text }) => text).join('') ?? ''
}

function highlightMatches(line: Line, query: string): Line {
  if (query === '') return line
  const wanted = query.toLowerCase()
  return line.flatMap(({ text, style }) => {
    const spans: { text: string; style: Style }[] = []
    let from = 0
    for (;;) {
      const place = text.toLowerCase().indexOf(wanted, from)
      if (place === -1) break
      spans.push({ text: text.slice(from, place), style })
      spans.push({ text: text.slice(place, place + wanted.length), style: FOUND })
      from = place + wanted.length
    }
    return [...spans, { text: text.slice(from), style }]
  })
}
