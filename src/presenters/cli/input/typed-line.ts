import type { Streams } from '../../../host/streams.ts'
import { visibleText } from '../text/visible-text.ts'

export interface LineOptions {
  /** The prompt on standard error. */
  readonly question: string
  /** Whether input is echoed. */
  readonly echo: boolean
  /** Further characters are ignored. */
  readonly longest: number
}

/**
 * Reads one line from a terminal; `undefined` at the end of input. Ctrl-C interrupts the program as usual. Always reads
 * a whole line, because left-over keys would go to the shell.
 */
export function typedLine(
  { stdin, stderr }: Pick<Streams, 'stdin' | 'stderr'>,
  { question, echo, longest }: LineOptions,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    let typed = ''
    const settle = (line: string | undefined) => {
      stopListening()
      stderr.write('\n')
      resolve(line)
    }
    const stopListening = stdin.keys((bytes) => {
      for (const key of bytes?.toString('utf8') ?? END_OF_INPUT) {
        if (key === CTRL_C) {
          settle(undefined)
          return stdin.interrupt()
        }
        if (key === '\r' || key === '\n') return settle(typed)
        if (key === END_OF_INPUT) return settle(undefined)
        if (key === '\u007f' || key === '\b') {
          if (echo && typed !== '') stderr.write('\b \b')
          typed = typed.slice(0, -1)
        } else if (/^[ -~]$/.test(key) && typed.length < longest) {
          typed += key
          if (echo) stderr.write(key)
        }
      }
    })
    // Written only now, because the terminal itself would echo keys typed before raw mode.
    stderr.write(visibleText(question))
  })
}

const CTRL_C = '\u0003'
const END_OF_INPUT = '\u0004'
