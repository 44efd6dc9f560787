import type { Clock } from '../../../host/clock.ts'
import type { Streams } from '../../../host/streams.ts'
import type { Palette } from '../text/cell-width.ts'
import {
  afterResize,
  erase,
  frame,
  NO_FRAME,
  redraw,
  type FinishedOutput,
  type ScreenFrame,
  type Scene,
} from './screen.ts'
import {
  ASK_BACKGROUND,
  attentionBytes,
  clipboardBytes,
  RESTORE_TITLE,
  SAVE_TITLE,
  titleBytes,
  type TerminalSignals,
} from './terminal-signals.ts'

/** Changes within this time are drawn together. */
const FRAME_MS = 16
/**
 * A new size is used after it has been stable this long, because a window that is being dragged changes size faster
 * than we are informed.
 */
const SETTLED_MS = 60

const NO_SIGNALS: TerminalSignals = {
  bell: true,
  notification: 'none',
  title: false,
  isStill: true,
  isPlain: false,
  tmux: false,
}

const PASTE_ON = '\u001b[?2004h'
const PASTE_OFF = '\u001b[?2004l'
const LEAVE_SCREEN = '\u001b[?1049l\u001b[?25h'
const OTHER_SCREEN = '\u001b[?1049h\u001b[?25l'

/** What is shown, and callbacks. */
export interface Stage {
  /** Called for every drawing. */
  readonly scene: () => Scene
  /** The width changed; called before the next `scene`. */
  readonly onResize: (columns: number) => void
  /** A defect occurred while drawing. */
  readonly onDefect: (defect: unknown) => void
}

/** The only writer to the terminal: finished rows, and below them the live region. */
export class Display {
  readonly #streams: Streams
  readonly #clock: Clock
  #colour: boolean | Palette
  readonly #stage: Stage
  #lastFrame: ScreenFrame = NO_FRAME
  /** The region must be drawn completely, for example because the terminal rewrapped it. */
  #redrawAll = false
  #finishedOutput: FinishedOutput[] = []
  #due: (() => void) | undefined
  #settling: (() => void) | undefined
  #stopListening = () => {}
  #closed = false
  /** Someone else has the terminal. */
  #isPaused = false
  readonly #signals: TerminalSignals
  #title = ''
  /** Draws the other screen while it is shown. */
  #cover: (() => string) | undefined

  constructor(
    parts: {
      readonly streams: Streams
      readonly clock: Clock
      readonly colour: boolean | Palette
      readonly signals?: TerminalSignals
    },
    stage: Stage,
  ) {
    this.#signals = parts.signals ?? NO_SIGNALS
    this.#streams = parts.streams
    this.#clock = parts.clock
    this.#colour = parts.colour
    this.#stage = stage
  }

  get columns(): number {
    return this.#streams.stdout.columns
  }

  get colour(): boolean | Palette {
    return this.#colour
  }

  /** Draws in other colours. What was printed keeps its own. */
  recolour(palette: Palette | false): void {
    this.#colour = palette
    this.repair()
  }

  /** Asks the terminal for its background, which it reports among the keys, or not at all. */
  askBackground(): void {
    this.#streams.stdout.write(ASK_BACKGROUND)
  }

  open(): void {
    this.#streams.stdout.write(PASTE_ON + (this.#signals.title ? SAVE_TITLE : ''))
    this.#stopListening = this.#streams.onResize(() => this.#settle())
    this.hurry()
  }

  /** Prints rows permanently. They must not be wider than the terminal. */
  print(rows: readonly FinishedOutput[]): void {
    for (const row of rows) this.#finishedOutput.push(row)
    this.refresh()
  }

  /** The scene changed. */
  refresh(): void {
    if (this.#closed) return
    this.#due ??= this.#clock.after(FRAME_MS, () => {
      this.#due = undefined
      this.#tryToDraw()
    })
  }

  /** The scene changed because of a key, whose effect is shown at once. */
  hurry(): void {
    if (this.#closed) return
    this.#due?.()
    this.#due = this.#clock.after(0, () => {
      this.#due = undefined
      this.#tryToDraw()
    })
  }

  /** Draws the region completely. */
  repair(): void {
    this.#redrawAll = true
    this.refresh()
  }

  /** Erases the region, so that something else can write to the terminal; it is drawn again below that. */
  lift(): void {
    this.#streams.stdout.write(erase(this.#lastFrame))
    this.#lastFrame = NO_FRAME
    this.refresh()
  }

  /** Erases the region and stops drawing, so that another program can have the terminal. */
  async pause(): Promise<void> {
    this.#tryToDraw()
    this.#isPaused = true
    this.#streams.stdout.write(erase(this.#lastFrame) + PASTE_OFF)
    this.#lastFrame = NO_FRAME
    await this.#streams.stdout.flush()
  }

  /** Draws again, below whatever the other program left. */
  resume(): void {
    this.#isPaused = false
    this.#streams.stdout.write(PASTE_ON)
    this.#stage.onResize(this.columns)
    this.refresh()
  }

  /** Attracts attention: rings the bell, and asks for a notification of the desktop. */
  attract(text: string): void {
    this.#streams.stdout.write(attentionBytes(this.#signals, text))
  }

  /** Puts a text on the clipboard of the terminal, if it has one. */
  copy(text: string): void {
    this.#streams.stdout.write(clipboardBytes(text))
  }

  /** Everything on the screen goes to the scrollback; the region is drawn again at the top. */
  clear(): void {
    this.#tryToDraw()
    const { rows } = this.#streams.stdout
    this.#streams.stdout.write(
      `${erase(this.#lastFrame)}\u001b[${rows};1H${'\r\n'.repeat(rows)}\u001b[H`,
    )
    this.#lastFrame = NO_FRAME
    this.refresh()
  }

  /** Sets the title of the window, if it differs. */
  entitle(text: string): void {
    if (!this.#signals.title || text === this.#title) return
    this.#title = text
    this.#streams.stdout.write(titleBytes(text))
  }

  get rows(): number {
    return this.#streams.stdout.rows
  }

  /**
   * Shows the other screen of the terminal, which `bytes` draws completely, until the returned function is called. Rows
   * that are printed meanwhile appear after that; the region and everything above it are as before.
   */
  cover(bytes: () => string): () => void {
    this.#tryToDraw()
    this.#cover = bytes
    this.#streams.stdout.write(OTHER_SCREEN)
    this.refresh()
    return () => {
      this.#cover = undefined
      this.#streams.stdout.write(LEAVE_SCREEN)
      this.refresh()
    }
  }

  get isCovered(): boolean {
    return this.#cover !== undefined
  }

  /** Flushes printed rows, erases the region, and restores the terminal. */
  async close(): Promise<void> {
    this.#closed = true
    this.#stopListening()
    this.#due?.()
    this.#settling?.()
    this.#settling = undefined
    if (this.#cover !== undefined) this.#streams.stdout.write(LEAVE_SCREEN)
    this.#cover = undefined
    this.#tryToDraw()
    const title = this.#signals.title ? RESTORE_TITLE : ''
    this.#streams.stdout.write(title + erase(this.#lastFrame) + PASTE_OFF)
    this.#lastFrame = NO_FRAME
    await this.#streams.stdout.flush()
  }

  #settle(): void {
    this.#settling?.()
    this.#redrawAll = true
    this.#settling = this.#clock.after(SETTLED_MS, () => {
      this.#settling = undefined
      this.#stage.onResize(this.columns)
      this.#tryToDraw()
    })
  }

  #tryToDraw(): void {
    try {
      this.#draw()
    } catch (defect) {
      this.#stage.onDefect(defect)
    }
  }

  #draw(): void {
    // What is drawn for an old width is torn, and parts of it stay.
    this.#streams.stdout.measure?.()
    if (this.#settling !== undefined || this.#isPaused) return
    if (this.#cover !== undefined) {
      this.#streams.stdout.write(this.#cover())
      return
    }
    const { columns, rows } = this.#streams.stdout
    const next = frame(this.#stage.scene(), columns, rows)
    const drawn = this.#redrawAll ? afterResize(this.#lastFrame, columns) : this.#lastFrame
    const finished = this.#finishedOutput
    this.#streams.stdout.write(redraw(drawn, next, finished, this.#colour))
    this.#lastFrame = next
    this.#redrawAll = false
    this.#finishedOutput = []
  }
}
