import type { Streams } from '../../host/streams.ts'
import type { SessionParts } from '../../session/session-parts.ts'
import type { Activity } from './activity.ts'
import { uploadWords } from './resource-words.ts'
import { visibleLine } from './visible-text.ts'

type Ask = SessionParts['ask']
type Question = Parameters<Ask>[0]
type Answer = Awaited<ReturnType<Ask>>

const NOBODY: Answer = { allowed: false, scope: 'once', by: 'nobody' }
const YES: Answer = { allowed: true, scope: 'once', by: 'person' }
const NO: Answer = { allowed: false, scope: 'once', by: 'person' }

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
      stderr.write(`\u0007${subjectOf(claim)}\n  ${visibleLine(reason)}\n`)
      stderr.write(`  Allow it? y once${mayGrant ? ', a for this Session' : ''}, n no: `)
      return keyed(streams, mayGrant, signal)
    })
    before = answered
    return answered
  }
}

function subjectOf({ tool, command, paths, upload }: Question['claim']): string {
  if (upload !== undefined) return uploadWords(upload)
  return `${visibleLine(tool)} ${visibleLine(command ?? paths.join(', '))}`
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
      const typed = bytes?.toString('latin1').toLowerCase()
      if (typed === undefined) return settle(NOBODY, 'nobody answers')
      // A key that is no letter, such as an arrow, comes as a sequence; Escape comes alone.
      const keys = typed.startsWith('\u001b') && typed.length > 1 ? [] : typed.split('')
      const said = keys.find((key) => key === '\u0003' || answerOf(key, mayGrant) !== undefined)
      // Keys come unread by the system here, so that an interrupt is only a key.
      if (said === '\u0003') return stdin.interrupt()
      const answer = said === undefined ? undefined : answerOf(said, mayGrant)
      if (answer !== undefined) settle(answer.answer, answer.word)
    })
    signal.addEventListener('abort', takenBack, { once: true })
  })
}

/** What a key says; `undefined` when it says nothing. */
function answerOf(
  key: string,
  mayGrant: boolean,
): { readonly answer: Answer; readonly word: string } | undefined {
  if (key === 'y') return { answer: YES, word: 'yes, once' }
  if (key === 'a' && mayGrant) {
    return { answer: { ...YES, scope: 'session' }, word: 'yes, for this Session' }
  }
  return key === 'n' || key === '\u001b' ? { answer: NO, word: 'no' } : undefined
}
