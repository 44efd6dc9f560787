import * as z from 'zod'
import { ok, type Result } from '../../model/errors.ts'
import { InstanceId } from '../../model/ids.ts'
import { Count, openObject, type Frozen } from '../../model/shape.ts'
import type { Clock } from '../clock.ts'
import { underShortLock } from '../short-lock.ts'
import { inTelegramFolder, readRecord, writeRecord, type TelegramHome } from './telegram-folder.ts'

const NAME = 'chats.json'

/** A conversation of a chat, and the id of the message from which on it is the current one. */
const BegunConversation = openObject(() => ({ from: Count, id: z.string() }))
export type BegunConversation = Frozen<z.infer<typeof BegunConversation>>

const PairedChat = openObject(() => ({
  chat: z.int(),
  /** The id that Telegram gave the group since then. */
  moved_to: z.int().optional(),
  kind: z.enum(['private', 'group']),
  /** As the chat names itself. */
  name: z.string(),
  instance: InstanceId,
  paired_at: z.iso.datetime(),
  /** Frames up to this number were sent before the chat was paired. */
  after_seq: Count,
  /** By topic (0 without one): conversations begun with /new, the latest last. */
  conversations: z.record(z.string(), z.array(BegunConversation)).optional(),
}))
export type PairedChat = Frozen<z.infer<typeof PairedChat>>

const ChatRegister = openObject(() => ({ chats: z.array(PairedChat) }))

/** The chats that may talk to an Instance, in the order in which they were paired. */
export async function pairedChats(
  place: Pick<TelegramHome, 'home'>,
): Promise<Result<readonly PairedChat[]>> {
  const read = await readRecord(place, NAME, ChatRegister)
  return read.ok ? ok(read.value?.chats ?? []) : read
}

/** Changes the register while no other process changes it. Durable once it resolves. */
export async function changeChats(
  place: TelegramHome & { readonly clock: Clock },
  change: (chats: readonly PairedChat[]) => readonly PairedChat[],
): Promise<Result<readonly PairedChat[]>> {
  return inTelegramFolder(place, (folder) =>
    underShortLock({ folder, clock: place.clock }, async () => {
      const before = await pairedChats(place)
      if (!before.ok) return before
      const chats = change(before.value)
      const written = await writeRecord(place, NAME, { chats })
      return written.ok ? ok(chats) : written
    }),
  )
}
