import type { FrameToGuest } from '../../model/tether/frame.ts'
import type { FrameLog } from './frame-log.ts'
import type { MessageFrame } from './guest-frames.ts'

/** The state that is stored before the first piece of an answer is shown: pieces themselves are not stored. */
export const ANSWERING = 'answering'

/** Which of these messages in a log have an answer of which something was shown, or may have been. */
export async function shownIn(
  log: FrameLog,
  waiting: readonly (MessageFrame & { readonly seq?: unknown })[],
): Promise<readonly MessageFrame[]> {
  const [first] = waiting
  if (first === undefined) return []
  const start = log.firstAvailable - 1
  const names = new Set<string>()
  const types = ['status.presence']
  for (let after_seq = Math.max(Number(first.seq ?? 0), start); ;) {
    const page = await log.poll({ after_seq, types, limit: 200 })
    // The log is damaged: what was shown is unknown.
    if (!page.ok) return waiting
    for (const frame of page.value.frames)
      if (frame.type === 'status.presence' && frame.payload.state === ANSWERING)
        names.add(nameOf(frame, frame.in_reply_to ?? ''))
    if (page.value.next_seq === after_seq) break
    after_seq = page.value.next_seq
  }
  return waiting.filter(
    (message) => Number(message.seq ?? 0) < start || names.has(nameOf(message, message.msg_id)),
  )
}

function nameOf(
  { session: { channel, id } }: Pick<FrameToGuest, 'session'>,
  msg_id: string,
): string {
  return JSON.stringify([channel, id, msg_id])
}
