import type { SessionParts } from '../../../session/live/session-parts.ts'
import { NOBODY } from '../../../session/questions/questions.ts'
import type { TerminalParts } from './terminal-question.ts'

type Ask = SessionParts['person']['ask']

/**
 * Asks the person at the terminal, one question at a time, on standard error, in the same way as a chat; `undefined` if
 * there is no terminal.
 */
export function askAtTerminal(parts: TerminalParts): Ask | undefined {
  const { stdin, stderr } = parts.streams
  if (!stdin.isTTY || !stderr.isTTY) return undefined
  let before: Promise<unknown> = Promise.resolve()
  return (question, signal) => {
    const answered = before.then(async () => {
      if (signal.aborted) return NOBODY
      // Loaded on first use: most Turns ask nothing, and the module is slow to load.
      const { askOne } = await import('./terminal-question.ts')
      return askOne(parts, question, signal)
    })
    before = answered
    return answered
  }
}
