/** The image protocols that a terminal supports. */
export interface PictureWays {
  /** The graphics protocol of kitty, used for PNG only. */
  readonly kitty: boolean
  /** The inline images of iTerm2, for every format. */
  readonly iterm: boolean
}

/** A stored image. */
export interface Image {
  readonly bytes: Buffer
  readonly media_type: string
  readonly width: number
  readonly height: number
}

/** An escape sequence that draws an image at the cursor, and its height in rows. `standing` restores the cursor. */
export interface Picture {
  readonly rows: number
  readonly bytes: string
}

/** The size of the terminal. */
export interface Room {
  readonly columns: number
  readonly rows: number
}

/**
 * Detected from environment variables. None inside tmux and screen, which redraw the screen themselves; the variables
 * there describe the outer terminal.
 */
export function pictureWays(env: Readonly<Record<string, string | undefined>>): PictureWays {
  const variable = (name: string) => env[name] ?? ''
  const term = variable('TERM')
  if (variable('TMUX') !== '' || variable('STY') !== '' || /^(?:tmux|screen|dumb)/.test(term))
    return NONE
  const program = variable('TERM_PROGRAM')
  const isWezterm = program === 'WezTerm' || variable('WEZTERM_PANE') !== ''
  const isKitty = variable('KITTY_WINDOW_ID') !== '' || term === 'xterm-kitty'
  const isGhostty = program.toLowerCase() === 'ghostty' || term === 'xterm-ghostty'
  const isIterm = program === 'iTerm.app' || variable('LC_TERMINAL') === 'iTerm2'
  return { kitty: isKitty || isGhostty || isWezterm, iterm: isIterm || isWezterm }
}

/** Fits the image into the room; `undefined` if the terminal does not support it or the room is too small. Pure. */
export function pictureOf(image: Image, ways: PictureWays, room: Room): Picture | undefined {
  if (image.bytes.length > MOST_PICTURE_BYTES || room.rows < LEAST_ROWS) return undefined
  const area = areaOf(image, room)
  if (ways.kitty && image.media_type === 'image/png') {
    return { rows: area.rows, bytes: kittyBytes(image.bytes, area) }
  }
  return ways.iterm ? { rows: area.rows, bytes: itermBytes(image.bytes, area) } : undefined
}

/**
 * Draws a picture on separate rows. The rows are created first, so that nothing scrolls while it is drawn, and the
 * cursor ends at the start of the row below, whatever the terminal does with it.
 */
export function standing({ rows, bytes }: Picture): string {
  const up = `${ESC}[${rows}A\r${ESC}[${INDENT}C`
  return `${'\r\n'.repeat(rows)}${up}${SAVE}${bytes}${RESTORE}${ESC}[${rows}B\r`
}

/**
 * The kitty protocol: an unmodified PNG file in chunks of at most 4096 characters; no response is requested, and the
 * cursor does not move.
 */
export function kittyBytes(png: Buffer, { columns, rows }: Room): string {
  const letters = png.toString('base64')
  const pieces = Math.max(1, Math.ceil(letters.length / PIECE))
  return Array.from({ length: pieces }, (_, at) => {
    const first = at === 0 ? `a=T,f=100,C=1,c=${columns},r=${rows},` : ''
    const more = at < pieces - 1 ? 1 : 0
    return `${ESC}_G${first}q=2,m=${more};${letters.slice(at * PIECE, (at + 1) * PIECE)}${ESC}\\`
  }).join('')
}

/** The iTerm2 protocol: any file that the terminal can decode, fitted into the area. */
export function itermBytes(file: Buffer, { columns, rows }: Room): string {
  const size = `size=${file.length};width=${columns};height=${rows};preserveAspectRatio=1`
  return `${ESC}]1337;File=inline=1;${size};doNotMoveCursor=1:${file.toString('base64')}\u0007`
}

const NONE: PictureWays = { kitty: false, iterm: false }

const ESC = '\u001b'
const SAVE = `${ESC}7`
const RESTORE = `${ESC}8`
const PIECE = 4096
const INDENT = 2

/** Larger images take a terminal too long. */
export const MOST_PICTURE_BYTES = 1024 * 1024
const LEAST_ROWS = 10
const MOST_ROWS = 16
const MOST_COLUMNS = 72

/** The usual size of a cell in pixels; the terminal is not queried. */
const CELL = { width: 10, height: 20 }

/** The area for an image: its proportions, and never larger than its pixels. */
function areaOf({ width, height }: Image, room: Room): Room {
  const most = {
    columns: Math.max(1, Math.min(MOST_COLUMNS, room.columns - INDENT)),
    rows: Math.min(MOST_ROWS, Math.floor(room.rows / 2)),
  }
  const own = { columns: width / CELL.width, rows: height / CELL.height }
  const scale = Math.min(1, most.columns / own.columns, most.rows / own.rows)
  const cells = (count: number, limit: number) =>
    Math.min(limit, Math.max(1, Math.round(count * scale)))
  return { columns: cells(own.columns, most.columns), rows: cells(own.rows, most.rows) }
}
