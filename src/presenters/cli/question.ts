import type { Streams } from '../../host/streams.ts'
import type { SessionParts } from '../../session/session-parts.ts'
import type { Activity } from './activity.ts'
import { visibleLine } from './visible-text.ts'

type Ask = SessionParts['ask']
type Answer = Awaited<ReturnType<Ask>>

const NOBODY: Answer = { allowed: false, scope: 'once', by: 'nobody' }

/** Asks the person at the terminal, one question after the other; `undefined` where there is no terminal to ask at. */
export function askAtTerminal(streams: Streams, activity: Activity): Ask | undefined {
  const { stdin, stderr } = streams
  if (!stdin.isTTY || !stderr.isTTY) return undefined
  let before: Promise<unknown> = Promise.resolve()
  return (question, signal) => {
    const answered = before.then(() => {
      if (signal.aborted) return NOBODY
      activity.clear()
      const { claim, reason, mayGrant } = question
      const what = claim.command ?? claim.paths.join(', ')
      stderr.write(
        `\u0007${visibleLine(claim.tool)} ${visibleLine(what)}\n  ${visibleLine(reason)}\n`,
      )
      stderr.write(`  Allow it? y once${mayGrant ? ', a for this Session' : ''}, n no: `)
      return keyed(streams, mayGrant, signal)
    })
    before = answered
    return answered
  }
}

function keyed(
  { stdin, stderr }: Streams,
  mayGrant: boolean,
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve) => {
    const settle = (answer: Answer, word: string) => {
      stopListening()
      signal.removeEventListener('abort', takenBack)
      stderr.write(`${word}\n`)
      resolve(answer)
    }
    const takenBack = () => settle(NOBODY, 'interrupted')
    const stopListening = stdin.keys((bytes) => {
      const key = bytes?.toString('latin1').toLowerCase()
      if (key === undefined) return settle(NOBODY, 'nobody answers')
      if (key === 'y') return settle({ allowed: true, scope: 'once', by: 'person' }, 'yes, once')
      if (key === 'a' && mayGrant) {
        return settle({ allowed: true, scope: 'session', by: 'person' }, 'yes, for this Session')
      }
      if (key === 'n' || key === '\u001b') {
        return settle({ allowed: false, scope: 'once', by: 'person' }, 'no')
      }
      // Keys come unread by the system here, so that an interrupt is only a key.
      if (key === '\u0003') stdin.interrupt()
    })
    signal.addEventListener('abort', takenBack, { once: true })
  })
}
