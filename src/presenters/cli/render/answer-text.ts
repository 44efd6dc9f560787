import { terminalText, type Palette } from '../text/cell-width.ts'
import { loadCodeColours, needsCodeColours } from '../text/code-colours.ts'
import { MarkdownStream } from '../text/markdown.ts'

/** Formats a streamed answer for a terminal: each block as soon as it is complete, a line of code at once. */
export class AnswerText {
  readonly #columns: () => number
  readonly #colour: boolean | Palette
  #stream: MarkdownStream | undefined

  constructor(columns: () => number, colour: boolean | Palette) {
    this.#columns = columns
    this.#colour = colour
  }

  /** Returns what became complete. Call it again only after it resolved. */
  async push(text: string): Promise<string> {
    if (needsCodeColours(text)) await loadCodeColours()
    this.#stream ??= new MarkdownStream(this.#columns())
    return terminalText(this.#stream.push(text), this.#colour)
  }

  /** Ends an answer, also one that failed, and returns the rest of it. */
  end(): string {
    const rest = this.#stream?.end() ?? []
    this.#stream = undefined
    return terminalText(rest, this.#colour)
  }
}
