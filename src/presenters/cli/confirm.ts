import type { Streams } from '../../host/streams.ts'
import { visibleText } from './visible-text.ts'

/** Whether there is a person who can be asked. */
export function canAsk({ stdin, stderr }: Pick<Streams, 'stdin' | 'stderr'>): boolean {
  return stdin.isTTY && stderr.isTTY
}

/** Asks on standard error; only `y` or `yes` is a yes. Ctrl-C interrupts the program as it would elsewhere. */
export function confirmed(
  { stdin, stderr }: Pick<Streams, 'stdin' | 'stderr'>,
  question: string,
): Promise<boolean> {
  stderr.write(`${visibleText(question)} [y/N] `)
  return new Promise((resolve) => {
    let typed = ''
    const settle = (yes: boolean) => {
      stopListening()
      stderr.write('\n')
      resolve(yes)
    }
    // A whole line is read: a key that were left over would be typed into the shell.
    const stopListening = stdin.keys((bytes) => {
      for (const key of bytes?.toString('utf8') ?? END_OF_INPUT) {
        if (key === CTRL_C) {
          settle(false)
          return stdin.interrupt()
        }
        if (key === '\r' || key === '\n') return settle(/^y(es)?$/i.test(typed.trim()))
        if (key === END_OF_INPUT) return settle(false)
        if (key === '\u007f' || key === '\b') {
          if (typed !== '') stderr.write('\b \b')
          typed = typed.slice(0, -1)
        } else if (/^[ -~]$/.test(key) && typed.length < LONGEST_ANSWER) {
          typed += key
          stderr.write(key)
        }
      }
    })
  })
}

const CTRL_C = '\u0003'
const END_OF_INPUT = '\u0004'
const LONGEST_ANSWER = 20
