import * as z from 'zod'
import { LIMITS } from '../limits.ts'
import { PermissionMode, Replay } from '../modes.ts'
import { boundedText, Count, openObject, type Frozen } from '../shape.ts'
import { FrameToGuest, FrameToHost } from './frame.ts'
import { TetherAddress } from './tether-address.ts'

/** The first line a guest reads: who it is and how it works. */
export const GuestStart = openObject(() => ({
  type: z.literal('guest.start'),
  instance: boundedText(1, LIMITS.tether_address_bytes),
  workspace: z.string(),
  /** The folder of its Sessions and blobs. Default: the `.hawser` of the workspace, where its sandbox shows them. */
  records: z.string().optional(),
  provider: z.string(),
  model: z.string(),
  permission_mode: PermissionMode,
  replay: Replay,
  /** Without a workspace of its own, an Instance exchanges no images. */
  images: z.boolean(),
}))
export type GuestStart = Frozen<z.infer<typeof GuestStart>>

/** Written before the guest continues: its clocks leave this time out. */
const GuestResumed = openObject(() => ({ type: z.literal('guest.resumed'), paused_ms: Count }))

/**
 * Written before a message that an earlier guest may have begun, if nothing of its answer was shown to anybody: its Turn may
 * continue.
 */
const GuestResend = openObject(() => ({
  type: z.literal('guest.resend'),
  session: TetherAddress,
  msg_id: boundedText(1, LIMITS.message_key_bytes),
}))
export type GuestResend = Frozen<z.infer<typeof GuestResend>>

const GuestReady = openObject(() => ({ type: z.literal('guest.ready') }))

/** A line that the server may send after `guest.start`. */
export const LineToGuest = z.union([GuestResumed, GuestResend, FrameToGuest])
export type LineToGuest = Frozen<z.infer<typeof LineToGuest>>

/** A line that a guest may send. */
export const LineToHost = z.union([GuestReady, FrameToHost])
export type LineToHost = Frozen<z.infer<typeof LineToHost>>
