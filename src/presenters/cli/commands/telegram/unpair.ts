import * as z from 'zod'
import { changeChats } from '../../../../host/telegram/chat-register.ts'
import { removeDelivery } from '../../../../host/telegram/deliveries.ts'
import { failed } from '../../../../model/errors.ts'
import type { TELEGRAM_UNPAIR } from '../../definitions/telegram.ts'
import { visibleLine } from '../../text/visible-text.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import { inSettings } from '../../world/settings-place.ts'
import { askGateway } from './telegram-place.ts'

export const Output = z.object({ ok: z.literal(true), chat: z.int() })

/** Ends a pairing. A running server stops serving the chat at once. */
export const run: Run<typeof TELEGRAM_UNPAIR> = async (world, { args: [named] }) =>
  inSettings(world, {}, 'none', async ({ home, ids }) => {
    const place = { home, ids, clock: world.clock }
    let name: string | undefined
    const changed = await changeChats(place, (chats) => {
      name = chats.find(({ chat }) => String(chat) === named)?.name
      return chats.filter(({ chat }) => String(chat) !== named)
    })
    if (!changed.ok) return changed
    if (name === undefined)
      return failed('not_found', `No chat ${visibleLine(named.slice(0, 40))} is paired.`, {}, [
        { action: 'List the chats.', command: 'hawser telegram status' },
      ])
    const chat = Number(named)
    const told = await askGateway(home, { reload: 'yes' })
    if (!told.ok) return told
    const removed = await removeDelivery(place, chat)
    if (!removed.ok) return removed
    return answer(world, { chat }, () => `Unpaired ${visibleLine(name ?? named)} (${chat}).\n`)
  })
