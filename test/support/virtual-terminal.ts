import xterm from '@xterm/headless'

/** A terminal without a window: takes the bytes a real one would get and says what it shows. */
export class VirtualTerminal {
  readonly #terminal: InstanceType<typeof xterm.Terminal>
  #bells = 0

  constructor(columns: number, rows: number) {
    this.#terminal = new xterm.Terminal({
      cols: columns,
      rows,
      scrollback: 100_000,
      allowProposedApi: true,
    })
    this.#terminal.onBell(() => {
      this.#bells += 1
    })
  }

  get bells(): number {
    return this.#bells
  }

  /** What the terminal itself says to the program, such as where its cursor is. */
  onReply(listener: (text: string) => void): void {
    this.#terminal.onData(listener)
  }

  /** Resolves when it was taken in. */
  write(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#terminal.write(text, resolve)
    })
  }

  /** Lines are wrapped anew, as most terminals do; the one with the cursor is cut. */
  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows)
  }

  /** The rows in sight, without blanks at their ends. */
  screen(): string[] {
    const { baseY } = this.#terminal.buffer.active
    return this.#rows(baseY, baseY + this.#terminal.rows)
  }

  /** Every row there is, those that scrolled away included. */
  all(): string[] {
    return this.#rows(0, this.#terminal.buffer.active.length)
  }

  /** Counted from 0, within the rows in sight. */
  cursor(): { readonly row: number; readonly column: number } {
    const { cursorX, cursorY } = this.#terminal.buffer.active
    return { row: cursorY, column: cursorX }
  }

  /** Colours of the foreground that occur in a row in sight, by their number; -1 is the usual one. */
  coloursOf(row: number): number[] {
    const { baseY } = this.#terminal.buffer.active
    const line = this.#terminal.buffer.active.getLine(baseY + row)
    const colours = new Set<number>()
    for (let column = 0; column < this.#terminal.cols; column++) {
      const cell = line?.getCell(column)
      if (cell !== undefined && cell.getChars().trim() !== '') colours.add(cell.getFgColor())
    }
    return [...colours]
  }

  #rows(from: number, to: number): string[] {
    const { active } = this.#terminal.buffer
    return Array.from({ length: to - from }, (_, at) =>
      (active.getLine(from + at)?.translateToString(true) ?? '').trimEnd(),
    )
  }
}
