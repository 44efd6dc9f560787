import type { TetherAddress } from '../../model/tether/tether-address.ts'

interface WithAddress {
  readonly session: TetherAddress
}

/** One text for each conversation, whatever characters its names contain. */
export function conversationOf({ session: { channel, id } }: WithAddress): string {
  return JSON.stringify([channel, id])
}

/** One text for each message of an Instance. */
export function nameOf({
  session: { channel, id },
  msg_id,
}: WithAddress & { msg_id: string }): string {
  return JSON.stringify([channel, id, msg_id])
}
