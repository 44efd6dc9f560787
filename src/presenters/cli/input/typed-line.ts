import type { Streams } from '../../../host/streams.ts'
import { visibleText } from '../text/visible-text.ts'

export interface LineOptions {
  /** What is asked for, on standard error. */
  readonly question: string
  /** Whether what is typed can be seen. */
  readonly shown: boolean
  /** Characters beyond it are not taken. */
  readonly longest: number
}

/**
 * One line that a person types at a terminal; `undefined` when they end the input instead. Ctrl-C interrupts the program as it
 * would elsewhere. A whole line is read: a key that were left over would be typed into the shell.
 */
export function typedLine(
  { stdin, stderr }: Pick<Streams, 'stdin' | 'stderr'>,
  { question, shown, longest }: LineOptions,
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
          if (shown && typed !== '') stderr.write('\b \b')
          typed = typed.slice(0, -1)
        } else if (/^[ -~]$/.test(key) && typed.length < longest) {
          typed += key
          if (shown) stderr.write(key)
        }
      }
    })
    // Only now: what is typed before the keys are ours, the terminal itself would show.
    stderr.write(visibleText(question))
  })
}

const CTRL_C = '\u0003'
const END_OF_INPUT = '\u0004'
