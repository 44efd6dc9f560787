import * as z from 'zod'
import { LIMITS } from './limits.ts'
import { boundedText, openObject } from './shape.ts'

const AddressPart = boundedText(1, LIMITS.tether_address_bytes)

/** Which conversation of an instance is meant. Never used as a path. */
export const TetherAddress = openObject({ channel: AddressPart, id: AddressPart })

/** The person behind a message, as their chat names them. */
export const Sender = openObject({ id: z.string(), name: z.string() })
