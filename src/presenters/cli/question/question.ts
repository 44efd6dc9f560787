import type { Session } from '../../../session/session.ts'
import type { TerminalParts } from './terminal-question.ts'

/** Asks the questions of a Session until the returned function is called, which throws a defect of the display. */
export type AskAtTerminal = (
  session: Pick<Session, 'openQuestions' | 'interrupt'>,
) => () => Promise<void>

/**
 * Asks the person at the terminal, one question at a time, on standard error, in the same way as a chat; `undefined` if
 * there is no terminal.
 */
export function askAtTerminal(parts: TerminalParts): AskAtTerminal | undefined {
  const { stdin, stderr } = parts.streams
  if (!stdin.isTTY || !stderr.isTTY) return undefined
  return (session) => {
    const { openQuestions: questions } = session
    const defects: unknown[] = []
    let isShowing = false
    let shown: Promise<void> = Promise.resolve()
    const interrupt = () => session.interrupt()
    const show = async () => {
      // Loaded on first use: most Turns ask nothing, and the module is slow to load.
      const { askOpen } = await import('./terminal-question.ts')
      while (questions.open.length > 0) await askOpen(parts, { questions, interrupt })
      isShowing = false
    }
    const stopListening = questions.listen(({ kind }) => {
      if (kind !== 'requested' || isShowing) return
      isShowing = true
      shown = show().catch((defect: unknown) => {
        defects.push(defect)
        interrupt()
      })
    })
    return async () => {
      stopListening()
      await shown
      if (defects.length > 0) throw defects[0]
    }
  }
}
