import type { FrameLog } from '../frames/frame-log.ts'
import type { CancelFrame, MessageFrame } from '../frames/guest-frames.ts'
import { conversationOf, nameOf } from './message-name.ts'

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

/** Which of the messages in a log were cancelled by frames in it, or were to be. */
export async function cancelledIn(
  log: FrameLog,
  waiting: readonly (MessageFrame & { readonly seq?: unknown })[],
): Promise<ReadonlyMap<MessageFrame, CancelFrame | undefined>> {
  const found = new Map<MessageFrame, CancelFrame | undefined>()
  waiting.forEach((message, at) => {
    if (message.payload.when_busy !== 'replace') return
    // A crash may have kept the cancellations from being stored.
    for (const one of replacedBy(message, waiting.slice(0, at))) found.set(one, undefined)
  })
  const byName = new Map(waiting.map((message) => [nameOf(message), message]))
  const [first] = waiting
  const start = Math.max(Number(first?.seq ?? 0), log.firstAvailable - 1)
  for (let after_seq = start; ;) {
    const types = ['control.cancel']
    const page = await log.poll({ after_seq, types, limit: 200 })
    // If older files are damaged, what is not known to be cancelled runs.
    if (!page.ok || page.value.next_seq === after_seq) return found
    for (const frame of page.value.frames) {
      if (frame.type !== 'control.cancel' || frame.in_reply_to === undefined) continue
      const message = byName.get(nameOf({ ...frame, msg_id: frame.in_reply_to }))
      if (message !== undefined) found.set(message, frame)
    }
    after_seq = page.value.next_seq
  }
}

function inConversationOf(
  frame: { readonly session: MessageFrame['session'] },
  waiting: readonly MessageFrame[],
): readonly MessageFrame[] {
  const own = conversationOf(frame)
  return waiting.filter((message) => conversationOf(message) === own)
}
