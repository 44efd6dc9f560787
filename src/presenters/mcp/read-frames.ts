import { elapsedMs, type Clock } from '../../host/clock.ts'
import { ok, type Result } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import type { FrameType } from '../../model/tether/frame.ts'
import type { FramePage } from '../../tether/frames/frame-query.ts'
import type { Tether } from '../../tether/tether.ts'
import type { ToolContent, CallContext } from './tool.ts'
import { imageContent, imagesOf, pageWithin } from './translate.ts'

/** The channel of every conversation that a program holds over MCP. */
export const CHANNEL = 'host'

/** The frames that a read returns unless it names others: the ones that end a message. */
const ENDING_TYPES: readonly FrameType[] = ['assistant.done', 'error']

/** How long a read waits for a frame unless it says otherwise. */
const DEFAULT_WAIT_MS = 10_000

/** Which frames a client wants; without a value, the default. */
interface ReadRequest {
  readonly instance: string
  readonly session_id?: string | undefined
  readonly after_seq?: number | undefined
  readonly limit?: number | undefined
  readonly wait_ms?: number | undefined
  readonly types?: readonly FrameType[] | undefined
  readonly reply_to_msg_id?: string | undefined
}

interface ReadParts {
  readonly tether: Tether
  readonly clock: Clock
}

interface ReadPage {
  readonly page: FramePage
  /** Of the answers in it, in order. */
  readonly images: readonly ToolContent[]
}

const PROGRESS_MS = 5_000

/** A page of frames with the images of its answers. Reports progress while it waits. */
export async function readFrames(
  parts: ReadParts,
  input: ReadRequest,
  context: CallContext,
): Promise<Result<ReadPage>> {
  const { tether, clock } = parts
  const { instance, wait_ms = DEFAULT_WAIT_MS } = input
  const stopReporting = reportWaiting(clock, wait_ms, context)
  const polled = await pollFrames(parts, input, wait_ms, context).finally(stopReporting)
  if (!polled.ok) return polled
  const page = pageWithin(polled.value, LIMITS.mcp_page_image_bytes)
  const images: ToolContent[] = []
  for (const reference of imagesOf(page.frames)) {
    if (context.signal.aborted) break
    images.push(imageContent(await tether.image(instance, reference.blob)))
  }
  return ok({ page, images })
}

/** A long log is examined in several steps; a step without a frame is not the end, nor is a wait that was cut short. */
async function pollFrames(
  { tether, clock }: ReadParts,
  input: ReadRequest,
  waitMs: number,
  { signal, ending }: CallContext,
): Promise<Result<FramePage>> {
  const { instance, session_id = 'default', types = ENDING_TYPES, limit, reply_to_msg_id } = input
  const filter = { channel: CHANNEL, session_id, types, limit, reply_to_msg_id }
  const begun = clock.monotonicMs()
  for (let { after_seq } = input; ;) {
    const isLast = ending.aborted
    const left = isLast ? 0 : Math.max(0, waitMs - elapsedMs(clock, begun))
    const until = isLast ? signal : AbortSignal.any([signal, ending])
    const query = { ...filter, after_seq }
    const found = await tether.poll(instance, query, { waitMs: left, signal: until })
    if (ending.aborted && !isLast) continue
    if (!found.ok) return found
    const { frames, next_seq, timed_out } = found.value
    const isOver = frames.length > 0 || timed_out || next_seq === after_seq || signal.aborted
    if (isOver || after_seq === undefined) return found
    after_seq = next_seq
  }
}

/** Hosts that limit the time of a call may extend it as long as there is progress. */
function reportWaiting(clock: Clock, waitMs: number, { progress }: CallContext): () => void {
  const begun = clock.monotonicMs()
  let stop: (() => void) | undefined
  const again = () => {
    stop = clock.after(PROGRESS_MS, () => {
      const seconds = Math.round(elapsedMs(clock, begun) / 1000)
      const message = `waiting for frames, ${seconds} s`
      progress({ progress: seconds, total: Math.ceil(waitMs / 1000), message })
      again()
    })
  }
  if (waitMs > PROGRESS_MS) again()
  return () => stop?.()
}
