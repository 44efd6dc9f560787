import type { Clock } from '../../../host/clock.ts'
import type { Streams } from '../../../host/streams.ts'
import {
  afterResize,
  erase,
  frame,
  NO_FRAME,
  redraw,
  type Finished,
  type ScreenFrame,
  type Scene,
} from './screen.ts'

/** What comes within this time is drawn together. */
const FRAME_MS = 16
/** A size counts when it stayed for so long: while a window is dragged its terminal is ahead of what we know. */
const SETTLED_MS = 60

const PASTE_ON = '\u001b[?2004h'
const PASTE_OFF = '\u001b[?2004l'
const BELL = '\u0007'

/** What is shown, and who is to know about it. */
export interface Stage {
  /** Asked for whenever something is drawn. */
  readonly scene: () => Scene
  /** The terminal has another width; told before the next scene is asked for. */
  readonly resized: (columns: number) => void
  /** Drawing met a defect. */
  readonly broke: (defect: unknown) => void
}

/** The one that writes to the terminal: finished rows, and below them the live region. */
export class Display {
  readonly #streams: Streams
  readonly #clock: Clock
  readonly #colour: boolean
  readonly #stage: Stage
  #drawn: ScreenFrame = NO_FRAME
  /** The terminal may have wrapped the region anew, or it has to be drawn as a whole for another reason. */
  #anew = false
  #finished: Finished[] = []
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

  /** Rows no wider than the terminal, which stay. */
  print(rows: readonly Finished[]): void {
    for (const row of rows) this.#finished.push(row)
    this.refresh()
  }

  /** The scene is another one. */
  refresh(): void {
    if (this.#closed) return
    this.#due ??= this.#clock.after(FRAME_MS, () => {
      this.#due = undefined
      this.#tryToDraw()
    })
  }

  /** The region is drawn as a whole, whatever became of it. */
  repair(): void {
    this.#anew = true
    this.refresh()
  }

  /** Takes the region away, for whoever else writes to the terminal now; it is drawn again below that. */
  lift(): void {
    this.#streams.stdout.write(erase(this.#drawn))
    this.#drawn = NO_FRAME
    this.refresh()
  }

  bell(): void {
    this.#streams.stdout.write(BELL)
  }

  /** What was printed is there, the region is not, and the terminal is as it was. */
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
    this.#anew = true
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
      this.#stage.broke(defect)
    }
  }

  #draw(): void {
    if (this.#settling !== undefined) return
    const { columns, rows } = this.#streams.stdout
    const next = frame(this.#stage.scene(), columns, rows)
    const drawn = this.#anew ? afterResize(this.#drawn, columns) : this.#drawn
    const finished = this.#finished
    this.#streams.stdout.write(redraw(drawn, next, finished, this.#colour))
    this.#drawn = next
    this.#anew = false
    this.#finished = []
  }
}
