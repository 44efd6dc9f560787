import type { Clock } from '../../host/clock.ts'
import { wait } from '../../host/wait.ts'
import type { InstanceId } from '../../model/ids.ts'
import type { Tether } from '../../tether/tether.ts'
import { CHANNEL } from './chat-inbox.ts'
import type { ChatLane } from './chat-lane.ts'
import { placeOf } from './translate.ts'

export interface ReaderParts {
  readonly tether: Pick<Tether, 'follow' | 'poll'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The chats of an Instance, as they are now. */
  readonly lanesOf: (instance: InstanceId) => readonly ChatLane[]
}

const RETRY_MS = 1_000
const LONG_RETRY_MS = 30_000

/** Passes the frames of one Instance to its chats, from the first that one of them has not read, until the signal is aborted. */
export async function readInstance(parts: ReaderParts, instance: InstanceId): Promise<void> {
  const { tether, clock, signal, lanesOf } = parts
  const filter = { channel: CHANNEL }
  while (!signal.aborted) {
    const from = Math.min(...lanesOf(instance).map((lane) => lane.readSeq))
    if (!Number.isFinite(from)) return
    const opened = await tether.follow(instance, from, filter, signal)
    if (!opened.ok) {
      if (opened.error.kind === 'cursor_expired') await skipDeleted(parts, instance)
      else await wait(clock, LONG_RETRY_MS, signal)
      continue
    }
    for await (const item of opened.value) {
      const lanes = lanesOf(instance)
      if (item.kind === 'failed') break
      if (item.kind === 'missing') {
        if (item.what === 'frames') for (const lane of lanes) lane.skipDeleted(item.through_seq)
        continue
      }
      const { frame } = item
      const chat = placeOf(frame.session.id)?.chat
      for (const lane of lanes)
        if (lane.pairing.chat === chat) lane.take(frame)
        else lane.skip(frame.seq)
    }
    await wait(clock, RETRY_MS, signal)
  }
}

/** Frames are kept for a month; a chat that could not be reached for longer learns that some are gone. */
async function skipDeleted(
  { tether, clock, signal, lanesOf }: ReaderParts,
  instance: InstanceId,
): Promise<void> {
  const page = await tether.poll(instance, { before_seq: Number.MAX_SAFE_INTEGER, limit: 1 })
  if (!page.ok) return wait(clock, RETRY_MS, signal)
  for (const lane of lanesOf(instance)) lane.skipDeleted(page.value.first_available_seq - 1)
  await wait(clock, RETRY_MS, signal)
}
