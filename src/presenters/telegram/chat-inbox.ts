import { timestamp, type Clock } from '../../host/clock.ts'
import { wait } from '../../host/wait.ts'
import type { PairedChat } from '../../host/telegram/chat-register.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { deliver, type NewMessage } from '../../tether/deliver.ts'
import type { AcceptedFrame, StoredImage, Tether } from '../../tether/tether.ts'
import { pauseMs } from './chat-sender.ts'
import type { ChatLane } from './chat-lane.ts'
import { downloadImage, type DownloadParts } from './download.ts'
import type { Me, Message } from './protocol.ts'
import {
  conversationOf,
  incomingOf,
  messageKey,
  senderOf,
  topicOf,
  withConversation,
  type ChatCommand,
  type IncomingImage,
} from './translate.ts'
import { refusalWords, WORDS } from './words.ts'

/** The channel of every conversation that a chat holds with an Instance. */
export const CHANNEL = 'telegram'

export interface InboxParts extends DownloadParts {
  readonly tether: Tether
  readonly clock: Clock
  readonly me: Me
  readonly signal: AbortSignal
  /** Stores a pairing that has changed. */
  readonly onChange: (paired: PairedChat) => Promise<Result<void>>
}

/** How long the bot's own words may delay the acknowledgement of a message. */
const SAY_MS = 10_000
/** How long an Instance may have too many messages before one is refused. */
const FULL_TRIES = 120
const FULL_MS = 250
/** How long Telegram may fail to deliver an image before the message is refused. */
const DOWNLOAD_TRIES = 8

/** Handles a message of a paired chat, or an album as one. Resolves when it needs not be delivered again. */
export async function acceptMessages(
  parts: InboxParts,
  lane: ChatLane,
  messages: readonly Message[],
): Promise<void> {
  const [first] = messages
  if (first === undefined) return
  const incoming = incomingOf(messages, parts.me)
  if (incoming.kind === 'nothing') return
  await lane.unpark()
  switch (incoming.kind) {
    case 'refused':
      return say(parts, lane, first, incoming.why)
    case 'command':
      return answerCommand(parts, lane, first, incoming)
    case 'message':
      return send(parts, lane, first, incoming)
    default:
      return incoming satisfies never
  }
}

/** Says it at once, and without holding up other chats. */
export async function say(
  { clock, signal }: Pick<InboxParts, 'clock' | 'signal'>,
  lane: ChatLane,
  message: Message,
  words: string,
): Promise<void> {
  const replyTo = message.chat.type === 'private' ? undefined : message.message_id
  await Promise.race([lane.say(words, topicOf(message), replyTo), wait(clock, SAY_MS, signal)])
}

async function send(
  parts: InboxParts,
  lane: ChatLane,
  message: Message,
  { text, images }: { readonly text: string; readonly images: readonly IncomingImage[] },
): Promise<void> {
  const downloaded = await downloadAll(parts, lane, images)
  if (parts.signal.aborted) return
  const accepted = downloaded.ok
    ? await patientDeliver(parts, lane.pairing.instance, {
        ...envelope(parts, lane, message),
        payload: { text, user: senderOf(message) },
        images: downloaded.value,
      })
    : downloaded
  if (!accepted.ok && !parts.signal.aborted)
    await say(parts, lane, message, refusalWords(accepted.error))
}

/** Telegram keeps a message for a while that an Instance cannot take yet. */
async function patientDeliver(
  { tether, clock, signal }: InboxParts,
  instance: string,
  message: NewMessage,
): Promise<Result<AcceptedFrame>> {
  for (let tries = 1; ; tries++) {
    const accepted = await deliver(tether, instance, message)
    const isFull = !accepted.ok && accepted.error.kind === 'backpressure'
    if (!isFull || tries === FULL_TRIES || signal.aborted) return accepted
    await wait(clock, FULL_MS, signal)
  }
}

/** Whether images are possible at all is asked before the first one is downloaded. */
async function downloadAll(
  parts: InboxParts,
  lane: ChatLane,
  images: readonly IncomingImage[],
): Promise<Result<readonly StoredImage[]>> {
  if (images.length === 0) return ok([])
  const info = await parts.tether.info(lane.pairing.instance)
  if (!info.ok) return info
  if (info.value.workspace === undefined)
    return failed('images_require_workspace', 'images require workspace mapping')
  const downloaded: StoredImage[] = []
  for (const image of images) {
    const bytes = await patientDownload(parts, image)
    if (!bytes.ok) return bytes
    downloaded.push(bytes.value)
  }
  return ok(downloaded)
}

async function patientDownload(
  parts: InboxParts,
  image: IncomingImage,
): Promise<Result<StoredImage> | Failed> {
  const { clock, signal } = parts
  for (let tries = 0; tries < DOWNLOAD_TRIES && !signal.aborted; tries++) {
    const downloaded = await downloadImage(parts, image, signal)
    if ('ok' in downloaded) return downloaded
    await wait(clock, pauseMs(tries, downloaded.failure.retrySeconds), signal)
  }
  return failed('network', WORDS.later)
}

async function answerCommand(
  parts: InboxParts,
  lane: ChatLane,
  message: Message,
  { command, rest }: { readonly command: ChatCommand; readonly rest: string },
): Promise<void> {
  const answer = await COMMAND_WORK[command](parts, lane, message)
  await say(parts, lane, message, answer)
  if (command === 'new' && rest !== '') await send(parts, lane, message, { text: rest, images: [] })
}

const COMMAND_WORK: Readonly<
  Record<ChatCommand, (parts: InboxParts, lane: ChatLane, message: Message) => Promise<string>>
> = {
  new: async ({ onChange }, lane, message) => {
    const changed = withConversation(lane.pairing, topicOf(message), message.message_id)
    const stored = await onChange(changed)
    return stored.ok ? WORDS.newConversation : refusalWords(stored.error)
  },
  cancel: async (parts, lane, message) => {
    const frame = { ...envelope(parts, lane, message), v: 1, type: 'control.cancel' } as const
    const sent = await parts.tether.send(lane.pairing.instance, { ...frame, payload: {} })
    return sent.ok ? WORDS.cancelling : refusalWords(sent.error)
  },
  status: async ({ tether }, lane) => {
    const info = await tether.info(lane.pairing.instance)
    if (!info.ok) return refusalWords(info.error)
    const { handle, state, enabled, waiting, workspace } = info.value
    return [
      `Instance ${handle}: ${enabled ? state : 'disabled'}.`,
      waiting === 0 ? 'Nothing waits.' : `Messages that have not ended: ${waiting}.`,
      workspace === undefined ? 'It exchanges no images.' : 'It exchanges images.',
    ].join(' ')
  },
  help: async ({ me }, lane) => WORDS.help(me.username, lane.pairing.kind === 'group'),
  start: async ({ me }, lane) => WORDS.help(me.username, lane.pairing.kind === 'group'),
}

function envelope({ clock, me }: InboxParts, lane: ChatLane, message: Message) {
  const id = conversationOf(lane.pairing, topicOf(message), message.message_id)
  return {
    ts: timestamp(clock),
    session: { channel: CHANNEL, id },
    msg_id: messageKey(me, message),
  }
}
