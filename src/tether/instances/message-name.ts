import type { TetherAddress } from '../../model/tether/tether-address.ts'

interface Addressed {
  readonly session: TetherAddress
}

/** One text for each conversation, whatever characters its names contain. */
export function conversationOf({ session: { channel, id } }: Addressed): string {
  return JSON.stringify([channel, id])
}

/** One text for each message of an Instance. */
export function nameOf({
  session: { channel, id },
  msg_id,
}: Addressed & { msg_id: string }): string {
  return JSON.stringify([channel, id, msg_id])
}
