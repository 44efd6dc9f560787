import type { ErrorKind, HawserError } from '../../model/errors.ts'
import type { FrameToHost } from '../../model/tether/frame.ts'
import type { TurnStatus } from '../../model/turn-status.ts'

/** What the bot itself says in a chat: one sentence or two, in plain text. */

const SUPPORTED = 'Send text, or up to four PNG, JPEG, GIF or WebP images.'

export const WORDS = {
  unsupported: (what: string) => `${what} are not supported. ${SUPPORTED}`,
  edited: 'Edits are not read. Send the text as a new message.',
  tooManyImages: (count: number) =>
    `An album may have at most four images, and this one has ${count}. Nothing of it was sent on.`,
  pair: (code: string) =>
    `To connect this chat, run this on the computer where Hawser runs, within an hour: hawser telegram pair ${code}`,
  paired: (handle: string) =>
    `This chat is connected to the Instance ${handle}. ${SUPPORTED} /help lists the commands.`,
  pairedGroup: (handle: string, username: string) =>
    `This group is connected to the Instance ${handle}. It sees only messages that mention @${username} or reply to it.`,
  unpaired: 'This chat is no longer connected.',
  gone: 'The Instance of this chat no longer exists. Its operator can connect the chat again: hawser telegram unpair, then a new code.',
  newConversation: 'A new conversation begins. What was said before is not part of it.',
  cancelling: 'What runs for this conversation is being cancelled.',
  missing: 'Some answers can no longer be shown: they were deleted before they could be sent.',
  missingImage: 'An image of this answer is missing.',
  unsendable: 'Telegram did not accept a part of this answer.',
  empty: 'The answer is empty.',
  later: 'Telegram did not deliver this image. Send it again later.',
  help: (username: string, isGroup: boolean) =>
    [
      `${SUPPORTED} An album is one message.`,
      ...(isGroup ? [`In this group, mention @${username} or reply to it.`] : []),
      ...COMMAND_HELP.map(({ command, description }) => `/${command} - ${description}`),
    ].join('\n'),
} as const

/** As Telegram shows them in its menu. */
export const COMMAND_HELP = [
  { command: 'new', description: 'begin a new conversation' },
  { command: 'cancel', description: 'stop what runs' },
  { command: 'status', description: 'show the Instance and what it does' },
  { command: 'help', description: 'show what can be sent' },
] as const

const REFUSALS: Readonly<Partial<Record<ErrorKind, string>>> = {
  images_require_workspace:
    'This image was not accepted: images require workspace mapping. The operator can map one: hawser instance map.',
  instance_disabled:
    'The Instance is disabled. Its operator can enable it: hawser instance enable.',
  backpressure: 'Too many messages wait. Send this one again later.',
  not_found: WORDS.gone,
}

/** Why a message was not accepted, with what the person can do. */
export function refusalWords({ kind, message }: HawserError): string {
  const known = REFUSALS[kind]
  return known ?? `This message was not accepted: ${message} Correct it, or send it again later.`
}

/** An error of a Turn: what failed, and the next step. */
export function errorWords({
  kind,
  message,
  retryable,
}: Extract<FrameToHost, { type: 'error' }>['payload']): string {
  if (kind === 'instance_disabled')
    return 'The Instance was disabled before it answered. Its operator can enable it: hawser instance enable.'
  if (kind === 'interrupted')
    return 'This message was cancelled. Send it again if you want an answer.'
  const next = retryable
    ? 'Send the message again.'
    : 'The operator can find the cause with hawser doctor.'
  return `${message.trim()} ${next}`
}

/** What an answer that did not complete says besides its text. */
export function statusWords(status: TurnStatus): string | undefined {
  switch (status) {
    case 'completed':
      return undefined
    case 'interrupted':
      return 'This answer was interrupted.'
    case 'refused':
      return 'Nothing of this message could be used. Send it in another form.'
    case 'failed':
      return 'This answer failed before its end. Send the message again.'
    default:
      return status satisfies never
  }
}
