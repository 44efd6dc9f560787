import * as z from 'zod'
import { wellFormedJson } from '../../encoding/json.ts'
import { Count } from '../../model/shape.ts'
import { Frame, type FrameToGuest, type FrameToHost } from '../../model/tether/frame.ts'

/** A frame in the frame log: its JSON text, and what queries select by. */
export interface FrameEntry {
  readonly seq: number
  readonly type: string
  readonly channel: string
  readonly session: string
  readonly replyTo: string | undefined
  readonly text: string
}

/** An entry as it is written or read. */
export interface NamedEntry extends FrameEntry {
  readonly msgId: string
}

/** A frame without its number. */
export interface UnnumberedFrame {
  readonly fields: Omit<NamedEntry, 'seq' | 'text'>
  /** JSON text without the closing brace. */
  readonly body: string
}

/** Ignores a `seq` of the sender. */
export function withoutSeq(frame: FrameToGuest | FrameToHost): UnnumberedFrame {
  const own = { ...frame }
  Reflect.deleteProperty(own, 'seq')
  const { type, session, msg_id, in_reply_to } = own
  const { channel, id } = session
  const fields = { type, channel, session: id, msgId: msg_id, replyTo: in_reply_to }
  return { fields, body: wellFormedJson(own).slice(0, -1) }
}

export function withSeq({ fields, body }: UnnumberedFrame, seq: number): NamedEntry {
  // A copy: a joined string keeps its parts, which take a sixth more memory.
  const text = Buffer.from(`${body},"seq":${seq}}`).toString('utf8')
  return { ...fields, seq, text }
}

const StoredFields = z.object({
  seq: Count,
  type: z.string(),
  session: z.object({ channel: z.string(), id: z.string() }),
  msg_id: z.string(),
  in_reply_to: z.string().optional(),
})

/** The entry of a stored frame; `undefined` if the value is not a frame of any version. */
export function storedEntry(value: unknown, text: string): NamedEntry | undefined {
  const stored = StoredFields.safeParse(value)
  if (!stored.success) return undefined
  const { seq, type, session, msg_id, in_reply_to } = stored.data
  const { channel, id } = session
  return { seq, type, channel, session: id, msgId: msg_id, replyTo: in_reply_to, text }
}

/** `undefined` for a frame of a newer version. */
export function frameIn({ text }: FrameEntry): Frame | undefined {
  return Frame.safeParse(JSON.parse(text)).data
}
