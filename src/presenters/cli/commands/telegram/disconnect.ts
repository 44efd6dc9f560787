import * as z from 'zod'
import { readBot, removeBot } from '../../../../host/telegram/bot-record.ts'
import { writeSettings } from '../../../../host/settings.ts'
import { readAllSettings } from '../../../../session/settings/stored-settings.ts'
import type { TELEGRAM_DISCONNECT } from '../../definitions/telegram.ts'
import { unlessConfirmed } from '../../input/confirm.ts'
import { visibleLine } from '../../text/visible-text.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import { inSettings } from '../../world/settings-place.ts'
import { askGateway, NO_BOT } from './telegram-place.ts'

export const Output = z.object({
  ok: z.literal(true),
  bot: z.object({ id: z.int(), username: z.string() }),
})

/** Deletes the token. A running server stops receiving at once. */
export const run: Run<typeof TELEGRAM_DISCONNECT> = async (world, { options }) =>
  inSettings(world, {}, 'none', async ({ home, ids }) => {
    const bot = await readBot({ home })
    if (!bot.ok) return bot
    if (bot.value === undefined) return NO_BOT
    const { id, username } = bot.value
    const name = visibleLine(username)
    const refused = options.yes
      ? undefined
      : await unlessConfirmed(world, {
          question: `Disconnect @${name} and delete its token here?`,
          command: 'hawser telegram disconnect --yes',
          withoutTerminal: 'There is no terminal to confirm this. Pass --yes.',
          withoutYes: 'nothing was disconnected',
        })
    if (refused !== undefined) return refused
    const stored = await readAllSettings(home, undefined)
    if (!stored.ok) return stored
    const settings = stored.value.userFile?.settings ?? {}
    const { token: _, ...rest } = settings.telegram ?? {}
    const written = await writeSettings(home, { ...settings, telegram: rest }, ids)
    if (!written.ok) return written
    const removed = await removeBot({ home })
    if (!removed.ok) return removed
    const told = await askGateway(home, { reload: 'yes' })
    if (!told.ok) return told
    return answer(
      world,
      { bot: { id, username } },
      () =>
        `Disconnected @${name}. Its chats stay paired for the case that it is connected again.\n`,
    )
  })
