import type { Clock } from '../../../host/clock.ts'
import type { Streams } from '../../../host/streams.ts'
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

/** Changes within this time are drawn together. */
const FRAME_MS = 16
/**
 * A new size is used after it has been stable this long, because a window that is being dragged changes size faster
 * than we are informed.
 */
const SETTLED_MS = 60

const PASTE_ON = '\u001b[?2004h'
const PASTE_OFF = '\u001b[?2004l'
const BELL = '\u0007'

/** What is shown, and callbacks. */
export interface Stage {
  /** Called for every drawing. */
  readonly scene: () => Scene
  /** The width changed; called before the next `scene`. */
  readonly resized: (columns: number) => void
  /** A defect occurred while drawing. */
  readonly onDefect: (defect: unknown) => void
}

/** The only writer to the terminal: finished rows, and below them the live region. */
export class Display {
  readonly #streams: Streams
  readonly #clock: Clock
  readonly #colour: boolean
  readonly #stage: Stage
  #drawn: ScreenFrame = NO_FRAME
  /** The region must be drawn completely, for example because the terminal rewrapped it. */
  #redrawAll = false
  #finished: FinishedOutput[] = []
  #due: (() => void) | undefined
  #settling: (() => void) | undefined
  #stopListening = () => {}
  #closed = false

  constructor(
    parts: { readonly streams: Streams; readonly clock: Clock; readonly colour: boolean },
    stage: Stage,
  ) {
    this.#streams = parts.streams
    this.#clock = parts.clock
    this.#colour = parts.colour
    this.#stage = stage
  }

  get columns(): number {
    return this.#streams.stdout.columns
  }

  open(): void {
    this.#streams.stdout.write(PASTE_ON)
    this.#stopListening = this.#streams.onResize(() => this.#settle())
    this.refresh()
  }

  /** Prints rows permanently. They must not be wider than the terminal. */
  print(rows: readonly FinishedOutput[]): void {
    for (const row of rows) this.#finished.push(row)
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

  /** Draws the region completely. */
  repair(): void {
    this.#redrawAll = true
    this.refresh()
  }

  /** Erases the region, so that something else can write to the terminal; it is drawn again below that. */
  lift(): void {
    this.#streams.stdout.write(erase(this.#drawn))
    this.#drawn = NO_FRAME
    this.refresh()
  }

  bell(): void {
    this.#streams.stdout.write(BELL)
  }

  /** Flushes printed rows, erases the region, and restores the terminal. */
  async close(): Promise<void> {
    this.#closed = true
    this.#stopListening()
    this.#due?.()
    this.#settling?.()
    this.#settling = undefined
    this.#tryToDraw()
    this.#streams.stdout.write(erase(this.#drawn) + PASTE_OFF)
    this.#drawn = NO_FRAME
    await this.#streams.stdout.flushed()
  }

  #settle(): void {
    this.#settling?.()
    this.#redrawAll = true
    this.#settling = this.#clock.after(SETTLED_MS, () => {
      this.#settling = undefined
      this.#stage.resized(this.columns)
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
    if (this.#settling !== undefined) return
    const { columns, rows } = this.#streams.stdout
    const next = frame(this.#stage.scene(), columns, rows)
    const drawn = this.#redrawAll ? afterResize(this.#drawn, columns) : this.#drawn
    const finished = this.#finished
    this.#streams.stdout.write(redraw(drawn, next, finished, this.#colour))
    this.#drawn = next
    this.#redrawAll = false
    this.#finished = []
  }
}
