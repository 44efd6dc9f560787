import type { SessionParts } from '../../../session/live/session-parts.ts'
import { NOBODY } from '../../../session/questions/questions.ts'
import type { TerminalParts } from './terminal-question.ts'

type Ask = SessionParts['person']['ask']

/**
 * Asks the person at the terminal, one question after the other, on standard error and in the same way as a chat does;
 * `undefined` where there is no terminal to ask at.
 */
export function askAtTerminal(parts: TerminalParts): Ask | undefined {
  const { stdin, stderr } = parts.streams
  if (!stdin.isTTY || !stderr.isTTY) return undefined
  let before: Promise<unknown> = Promise.resolve()
  return (question, signal) => {
    const answered = before.then(async () => {
      if (signal.aborted) return NOBODY
      // Most Turns ask nothing, and what draws a question takes long to load.
      const { asked } = await import('./terminal-question.ts')
      return asked(parts, question, signal)
    })
    before = answered
    return answered
  }
}
