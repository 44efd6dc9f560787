import type { TetherAddress } from '../../model/tether/tether-address.ts'

/** One text for each conversation, whatever characters its names contain. */
export function conversationName({ channel, id }: TetherAddress): string {
  return JSON.stringify([channel, id])
}

/** One text for each message of an Instance. */
export function messageName({
  session: { channel, id },
  msg_id,
}: {
  readonly session: TetherAddress
  readonly msg_id: string
}): string {
  return JSON.stringify([channel, id, msg_id])
}
