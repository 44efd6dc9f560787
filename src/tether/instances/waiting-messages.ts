import type { Frame } from '../../model/tether/frame.ts'
import type { FrameLog } from '../frames/frame-log.ts'
import type { CancelFrame, MessageFrame } from '../frames/guest-frames.ts'
import { conversationName, messageName } from '../frames/message-name.ts'

/** Messages of a log that have not ended, the oldest first. */
type WaitingMessages = readonly (MessageFrame & { readonly seq?: unknown })[]

/** The message that a cancellation is about: the named one, or else the oldest of its conversation. */
export function cancelTarget(
  cancel: CancelFrame,
  waiting: readonly MessageFrame[],
): MessageFrame | undefined {
  const own = inConversationOf(cancel, waiting)
  const { in_reply_to } = cancel
  return in_reply_to === undefined ? own[0] : own.find(({ msg_id }) => msg_id === in_reply_to)
}

/** The messages that a new one takes the place of. */
export function replacedBy(
  message: MessageFrame,
  waiting: readonly MessageFrame[],
): readonly MessageFrame[] {
  return inConversationOf(message, waiting).filter(({ msg_id }) => msg_id !== message.msg_id)
}

/** Which of the messages were cancelled by frames in the log, or were to be. */
export async function cancelledIn(
  log: FrameLog,
  waiting: WaitingMessages,
): Promise<ReadonlyMap<MessageFrame, CancelFrame | undefined>> {
  const found = new Map<MessageFrame, CancelFrame | undefined>()
  waiting.forEach((message, at) => {
    if (message.payload.when_busy !== 'replace') return
    // A crash may have kept the cancellations from being stored.
    for (const one of replacedBy(message, waiting.slice(0, at))) found.set(one, undefined)
  })
  const byName = new Map(waiting.map((message) => [messageName(message), message]))
  // If older files are damaged, what is not known to be cancelled runs.
  await eachReply(log, waiting, 'control.cancel', (name, frame) => {
    const message = byName.get(name)
    if (message !== undefined && frame.type === 'control.cancel') found.set(message, frame)
  })
  return found
}

/** The state that is stored before the first piece of an answer is shown: pieces themselves are not stored. */
export const ANSWERING = 'answering'

/** Which of the messages have an answer of which something was shown, or may have been. */
export async function shownIn(
  log: FrameLog,
  waiting: WaitingMessages,
): Promise<readonly MessageFrame[]> {
  const names = new Set<string>()
  const isWhole = await eachReply(log, waiting, 'status.presence', (name, frame) => {
    if (frame.type === 'status.presence' && frame.payload.state === ANSWERING) names.add(name)
  })
  // The log is damaged: what was shown is unknown.
  if (!isWhole) return waiting
  const start = log.firstAvailable - 1
  return waiting.filter(
    (message) => Number(message.seq ?? 0) < start || names.has(messageName(message)),
  )
}

/** Calls `take` with the frames of a type since the first message, and the names of what they reply to. False if some are unreadable. */
async function eachReply(
  log: FrameLog,
  [first]: WaitingMessages,
  type: Frame['type'],
  take: (name: string, frame: Frame) => void,
): Promise<boolean> {
  for (let after_seq = Math.max(Number(first?.seq ?? 0), log.firstAvailable - 1); ;) {
    const page = await log.poll({ after_seq, types: [type], limit: 200 })
    if (!page.ok) return false
    for (const frame of page.value.frames) {
      const { session, in_reply_to: msg_id } = frame
      if (msg_id !== undefined) take(messageName({ session, msg_id }), frame)
    }
    if (page.value.next_seq === after_seq) return true
    after_seq = page.value.next_seq
  }
}

function inConversationOf(
  frame: { readonly session: MessageFrame['session'] },
  waiting: readonly MessageFrame[],
): readonly MessageFrame[] {
  const own = conversationName(frame.session)
  return waiting.filter(({ session }) => conversationName(session) === own)
}
