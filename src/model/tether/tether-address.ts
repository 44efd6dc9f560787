import * as z from 'zod'
import { LIMITS } from '../limits.ts'
import { boundedText, openObject, type Frozen } from '../shape.ts'

const AddressPart = boundedText(1, LIMITS.tether_address_bytes)

/** The address of a conversation of an Instance. Never used as a path. */
export const TetherAddress = openObject(() => ({ channel: AddressPart, id: AddressPart }))
export type TetherAddress = Frozen<z.infer<typeof TetherAddress>>

/** The author of a message, as named by their chat. */
export const Sender = openObject(() => ({ id: z.string(), name: z.string() }))

/** Binds a Session to a conversation. Two Instances in one workspace never share a Session. */
export const TetherBinding = openObject(() => ({
  instance: AddressPart,
  channel: AddressPart,
  id: AddressPart,
}))
export type TetherBinding = Frozen<z.infer<typeof TetherBinding>>
