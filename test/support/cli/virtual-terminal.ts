import xterm from '@xterm/headless'

/** A terminal without a window, which interprets output so that tests can read the screen. */
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

  /** Receives what the terminal itself sends to the program, such as the position of its cursor. */
  onReply(listener: (text: string) => void): void {
    this.#terminal.onData(listener)
  }

  /** Resolves when the text was interpreted. */
  write(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#terminal.write(text, resolve)
    })
  }

  /** Rewraps lines as most terminals do; the line with the cursor is cut. */
  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows)
  }

  /** The visible rows, without trailing spaces. */
  screen(): string[] {
    const { baseY } = this.#terminal.buffer.active
    return this.#rows(baseY, baseY + this.#terminal.rows)
  }

  /** Every row, including those that scrolled out of view. */
  all(): string[] {
    return this.#rows(0, this.#terminal.buffer.active.length)
  }

  /** Counted from 0, within the visible rows. */
  cursor(): { readonly row: number; readonly column: number } {
    const { cursorX, cursorY } = this.#terminal.buffer.active
    return { row: cursorY, column: cursorX }
  }

  /** The numbers of the foreground colours in a visible row; -1 is the default colour. */
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
