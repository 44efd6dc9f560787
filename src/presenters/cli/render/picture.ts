/** Which ways of drawing pictures a terminal knows. */
export interface PictureWays {
  /** The graphics protocol of kitty, here for PNG alone. */
  readonly kitty: boolean
  /** The inline images of iTerm2, for every format. */
  readonly iterm: boolean
}

/** An image as it lies in the store. */
export interface Image {
  readonly bytes: Buffer
  readonly media_type: string
  readonly width: number
  readonly height: number
}

/** What draws an image at the cursor, in an area of so many rows. Wherever the cursor is after that, `standing` takes it back. */
export interface Picture {
  readonly rows: number
  readonly bytes: string
}

/** Room that is there to draw in: the size of the terminal. */
export interface Room {
  readonly columns: number
  readonly rows: number
}

/**
 * By what a terminal says of itself. Inside tmux and screen none: what is drawn there is the picture of another program, and
 * the variables are those of the terminal around it.
 */
export function pictureWays(env: Readonly<Record<string, string | undefined>>): PictureWays {
  const said = (name: string) => env[name] ?? ''
  const term = said('TERM')
  if (said('TMUX') !== '' || said('STY') !== '' || /^(?:tmux|screen|dumb)/.test(term)) return NONE
  const program = said('TERM_PROGRAM')
  const isWezterm = program === 'WezTerm' || said('WEZTERM_PANE') !== ''
  const isKitty = said('KITTY_WINDOW_ID') !== '' || term === 'xterm-kitty'
  const isGhostty = program.toLowerCase() === 'ghostty' || term === 'xterm-ghostty'
  const isIterm = program === 'iTerm.app' || said('LC_TERMINAL') === 'iTerm2'
  return { kitty: isKitty || isGhostty || isWezterm, iterm: isIterm || isWezterm }
}

/** The image drawn in the room there is; `undefined` where the terminal or the room cannot take it. Pure. */
export function pictureOf(image: Image, ways: PictureWays, room: Room): Picture | undefined {
  if (image.bytes.length > MOST_PICTURE_BYTES || room.rows < LEAST_ROWS) return undefined
  const area = areaOf(image, room)
  if (ways.kitty && image.media_type === 'image/png') {
    return { rows: area.rows, bytes: kittyBytes(image.bytes, area) }
  }
  return ways.iterm ? { rows: area.rows, bytes: itermBytes(image.bytes, area) } : undefined
}

/**
 * A picture on rows of its own. They are made first, so that nothing scrolls while it is drawn, and the cursor is left at the
 * start of the row below them, whatever the terminal itself does with it.
 */
export function standing({ rows, bytes }: Picture): string {
  const up = `${ESC}[${rows}A\r${ESC}[${INDENT}C`
  return `${'\r\n'.repeat(rows)}${up}${SAVE}${bytes}${RESTORE}${ESC}[${rows}B\r`
}

/** In kitty's protocol: a PNG file as it is, in pieces of at most 4096 letters; no answer is wanted, and the cursor stays. */
export function kittyBytes(png: Buffer, { columns, rows }: Room): string {
  const letters = png.toString('base64')
  const pieces = Math.max(1, Math.ceil(letters.length / PIECE))
  return Array.from({ length: pieces }, (_, at) => {
    const first = at === 0 ? `a=T,f=100,C=1,c=${columns},r=${rows},` : ''
    const more = at < pieces - 1 ? 1 : 0
    return `${ESC}_G${first}q=2,m=${more};${letters.slice(at * PIECE, (at + 1) * PIECE)}${ESC}\\`
  }).join('')
}

/** In iTerm2's protocol: any file that the terminal can decode, fitted into the area. */
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

/** Larger ones take a terminal too long. */
export const MOST_PICTURE_BYTES = 1024 * 1024
const LEAST_ROWS = 10
const MOST_ROWS = 16
const MOST_COLUMNS = 72

/** Pixels of a cell, as they commonly are: no terminal is asked. */
const CELL = { width: 10, height: 20 }

/** Cells for an image, never more than it has pixels for, in the proportions it has. */
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
