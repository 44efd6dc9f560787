import { standing, type Picture } from '../render/picture.ts'
import { cellWidth, paintLine, wrapLine, type Line, type Palette } from '../text/cell-width.ts'
import type { Chips } from './chips.ts'
import { graphemes, type Draft } from './draft.ts'
import { inputBox, withCaret, type InputBox } from './input-box.ts'

/** The content of the live region at the bottom. Everything above it is finished and scrolls like any output. */
export interface Scene {
  /** The rows of an answer that may still change. */
  readonly open: readonly Line[]
  /** What is running. */
  readonly activity: readonly Line[]
  /** What is waited for: one line below what is running, which stays visible. */
  readonly pulse?: Line | undefined
  /** The current question, in at most `most` rows. */
  readonly question: (columns: number, most: number) => readonly Line[]
  /** Absent if there is no input. */
  readonly draft: Draft | undefined
  /** The chips of the draft. */
  readonly chips?: Chips
  /** What is suggested for the draft, one row each. */
  readonly below?: (columns: number) => readonly Line[]
  readonly hint: Line
  /**
   * `own`: the terminal cursor is in the draft. `drawn`: output may come at any time, so the terminal cursor waits in
   * the last row, where every terminal keeps it when it rewraps rows. `none`: no text is being edited.
   */
  readonly cursor: 'own' | 'drawn' | 'none'
}

/** Finished output: a line, or a picture on separate rows. */
export type FinishedOutput = Line | Picture

/** Rows of the live region, none wider than the terminal, and the cursor position. */
export interface ScreenFrame {
  readonly lines: readonly Line[]
  readonly cursor: { readonly row: number; readonly column: number; readonly visible: boolean }
}

/** Composes the region. Leaves at least one row of the terminal for what is above. */
export function frame(scene: Scene, columns: number, rows: number): ScreenFrame {
  const budget = Math.max(3, rows - 1)
  const box =
    scene.draft === undefined
      ? NO_BOX
      : inputBox(scene.draft, columns, Math.max(1, Math.floor(rows / 3)), scene.chips)
  const hint = wrapLine(scene.hint, columns).slice(0, rows < ROWS_WITH_A_GAP ? 1 : MOST_HINT_ROWS)
  const gap: Line[] = rows < ROWS_WITH_A_GAP || scene.draft === undefined ? [] : [[]]
  const input = [...gap, ...(scene.cursor === 'drawn' ? withCaret(box) : box.lines)]
  const room = Math.max(0, budget - input.length - hint.length)
  const below = scene.below?.(columns).slice(0, room) ?? []
  let left = room - below.length
  const question = headOf(rowsOf(scene.question(columns, left), columns), left)
  left -= question.length
  const pulse = scene.pulse === undefined ? [] : wrapLine(scene.pulse, columns).slice(0, left && 1)
  left -= pulse.length
  const most = Math.max(LEAST_ACTIVITY, Math.floor(rows / 2))
  const activity = headOf(rowsOf(scene.activity, columns), Math.min(left, most))
  left -= activity.length
  const open = scene.open.slice(Math.max(0, scene.open.length - left))
  const above = [...open, ...activity, ...pulse, ...question]
  const lines = [...above, ...input, ...below, ...hint]
  const cursor =
    scene.cursor === 'own'
      ? {
          row: above.length + gap.length + box.cursor.row,
          column: box.cursor.column,
          visible: true,
        }
      : { row: lines.length - 1, column: 0, visible: false }
  return { lines, cursor }
}

export const NO_FRAME: ScreenFrame = { lines: [], cursor: { row: 0, column: 0, visible: true } }

/**
 * The bytes that turn one frame into the next and print finished rows above it. Moves are relative; nothing else is
 * touched.
 */
export function redraw(
  drawn: ScreenFrame,
  next: ScreenFrame,
  finished: readonly FinishedOutput[],
  colour: boolean | Palette,
): string {
  const paint = (line: Line) => paintLine(line, colour)
  const fresh = next.lines.map(paint)
  const redrawsAll = finished.length > 0 || drawn.lines.length === 0
  const printed = finished
    .map((one) => ('bytes' in one ? standing(one) : paint(one) + NEW_LINE))
    .join('')
  const { bytes, row } = redrawsAll
    ? {
        bytes: toRow(drawn.cursor.row, 0) + ERASE_BELOW + printed + fresh.join(NEW_LINE),
        row: fresh.length - 1,
      }
    : changes(drawn.lines.map(paint), fresh, drawn.cursor.row)
  const { column, visible } = next.cursor
  const right = column === 0 ? '' : `${ESC}${column}C`
  const place = toRow(row, next.cursor.row) + right + (visible ? SHOW : '')
  return SYNC + HIDE + bytes + place + END_SYNC
}

/** The bytes that erase the region; later output starts where it was. */
export function erase(drawn: ScreenFrame): string {
  return toRow(drawn.cursor.row, 0) + ERASE_BELOW + SHOW
}

/**
 * The frame after the terminal changed its width and rewrapped its rows: everything must be drawn again. Terminals
 * differ in whether they cut or wrap the row of the cursor; the cursor is assumed to be in its first part, so that
 * nothing above the region is ever erased.
 */
export function afterResize(drawn: ScreenFrame, columns: number): ScreenFrame {
  const above = drawn.lines.slice(0, drawn.cursor.row)
  const row = above.reduce((sum, line) => sum + rowsAt(line, columns), 0)
  return { lines: [], cursor: { ...drawn.cursor, row } }
}

const NO_BOX: InputBox = { lines: [], cursor: { row: 0, column: 0 } }

const PICTURE = /\p{Extended_Pictographic}/u
const LEAST_ACTIVITY = 8
const ROWS_WITH_A_GAP = 12
/** A note may say what went wrong, and what to do. */
const MOST_HINT_ROWS = 3

const ESC = '\u001b['
const SYNC = `${ESC}?2026h`
const END_SYNC = `${ESC}?2026l`
const HIDE = `${ESC}?25l`
const SHOW = `${ESC}?25h`
const ERASE_BELOW = `${ESC}J`
const ERASE_LINE = `${ESC}2K`
const CARRIAGE_RETURN = '\r'
const NEW_LINE = '\r\n'

/** Draws from the first changed row on and skips unchanged ones. Returns the row where the cursor ends. */
function changes(
  old: readonly string[],
  fresh: readonly string[],
  cursor: number,
): { readonly bytes: string; readonly row: number } {
  const differs = fresh.findIndex((text, row) => text !== old[row])
  if (differs === -1 && old.length === fresh.length) return { bytes: '', row: cursor }
  const first = Math.min(differs === -1 ? fresh.length : differs, old.length, fresh.length) - 1
  const from = Math.max(0, first)
  const rows = fresh.slice(from).map((text, at) => {
    const before = old[from + at]
    if (before === text) return ''
    return before === undefined ? text : ERASE_LINE + text
  })
  const bytes = toRow(cursor, from) + rows.join(NEW_LINE)
  if (old.length <= fresh.length) return { bytes, row: fresh.length - 1 }
  return { bytes: bytes + NEW_LINE + ERASE_BELOW, row: fresh.length }
}

/** Moves to the start of a row of the region. */
function toRow(from: number, to: number): string {
  if (from === to) return CARRIAGE_RETURN
  return (from > to ? `${ESC}${from - to}A` : `${ESC}${to - from}B`) + CARRIAGE_RETURN
}

function rowsOf(lines: readonly Line[], columns: number): Line[] {
  return lines.flatMap((line) => wrapLine(line, columns))
}

function headOf(rows: readonly Line[], most: number): readonly Line[] {
  if (rows.length <= most) return rows
  const left = rows.length - most + 1
  const note: Line = [{ text: `[… ${left} more lines]`, style: { dim: true } }]
  return most < 1 ? [] : [...rows.slice(0, most - 1), note]
}

/**
 * The least number of rows that a terminal of this width needs for a line: terminals differ in whether an emoji takes
 * one cell or two.
 */
function rowsAt(line: Line, columns: number): number {
  let rows = 1
  let used = 0
  for (const grapheme of graphemes(line.map(({ text }) => text).join(''))) {
    const width = PICTURE.test(grapheme) ? 1 : cellWidth(grapheme)
    if (used + width > columns) {
      rows += 1
      used = 0
    }
    used += width
  }
  return rows
}
