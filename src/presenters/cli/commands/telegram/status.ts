import * as z from 'zod'
import { readBot } from '../../../../host/telegram/bot-record.ts'
import { pairedChats, type PairedChat } from '../../../../host/telegram/chat-register.ts'
import { definedFields } from '../../../../model/fields/defined-fields.ts'
import { ok } from '../../../../model/errors.ts'
import type { TELEGRAM_STATUS } from '../../definitions/telegram.ts'
import { instanceNames } from '../../world/instance-records.ts'
import { terminalText } from '../../text/cell-width.ts'
import { cell, inColumns } from '../../text/columns.ts'
import { visibleLine } from '../../text/visible-text.ts'
import { answer, wantsColour } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import { inSettings } from '../../world/settings-place.ts'
import type { CliWorld } from '../../world/world.ts'
import { askGateway, stateWords, type GatewayAnswer } from './telegram-place.ts'

export const Output = z.object({
  ok: z.literal(true),
  connected: z.boolean(),
  bot: z.object({ id: z.int(), username: z.string() }).optional(),
  api_root: z.string().optional(),
  running: z.boolean().describe('Whether the local server runs.'),
  state: z
    .string()
    .optional()
    .describe(
      'Of the running server: off, receiving, unreachable, conflict, unauthorized, stale or unreadable.',
    ),
  chats: z.array(
    z.object({
      chat: z.int(),
      kind: z.enum(['private', 'group']),
      name: z.string(),
      instance: z.string().describe('Handle of its Instance; its id if that was deleted.'),
      paired_at: z.string(),
      parked: z.boolean().optional().describe('Telegram refuses messages to it.'),
      unsent: z.int().optional().describe('Answers that were not sent yet.'),
    }),
  ),
})
type StatusOutput = Omit<z.infer<typeof Output>, 'ok'>

/** Shows the bot and its chats. Starts nothing. */
export const run: Run<typeof TELEGRAM_STATUS> = async (world) =>
  inSettings(world, {}, 'none', async ({ home }) => {
    const bot = await readBot({ home })
    if (!bot.ok) return bot
    const chats = await pairedChats({ home })
    if (!chats.ok) return chats
    const gateway = await askGateway(home)
    if (!gateway.ok) return gateway
    const names = await instanceNames(
      world,
      chats.value.map(({ instance }) => instance),
    )
    const { value: known } = bot
    const output: StatusOutput = {
      connected: known !== undefined,
      ...(known === undefined
        ? {}
        : { bot: { id: known.id, username: known.username }, api_root: known.api_root }),
      running: gateway.value !== undefined,
      ...definedFields({ state: gateway.value?.state }),
      chats: chats.value.map((chat, at) => chatOf(chat, names[at], gateway.value)),
    }
    answer(world, output, () => words(world, output, gateway.value))
    return ok(0)
  })

function chatOf(
  { chat, kind, name, instance, paired_at }: PairedChat,
  handle: string | undefined,
  gateway: GatewayAnswer | undefined,
): StatusOutput['chats'][number] {
  const live = gateway?.chats?.find((one) => one.chat === chat)
  const shared = { chat, kind, name, instance: handle ?? instance, paired_at }
  return live === undefined ? shared : { ...shared, parked: live.is_parked, unsent: live.waiting }
}

function words(
  world: CliWorld,
  { bot, running, chats }: StatusOutput,
  gateway: GatewayAnswer | undefined,
): string {
  if (bot === undefined)
    return 'No Telegram bot is connected. To connect one: hawser telegram connect\n'
  const trouble = gateway === undefined ? '' : stateWords(gateway)
  const state = running
    ? trouble === ''
      ? 'It receives messages.'
      : trouble
    : 'It receives no messages, because the local server is not running. To start it: hawser up --background'
  const first = `Connected: @${visibleLine(bot.username)}. ${state}\n`
  if (chats.length === 0)
    return `${first}No chat is paired. Write to the bot, and run hawser telegram pair with the code that it shows.\n`
  const header = ['Chat', 'Name', 'Kind', 'Instance', 'State'].map((text) =>
    cell(text, { dim: true }),
  )
  const rows = chats.map(({ chat, name, kind, instance, parked, unsent = 0 }) =>
    [
      String(chat),
      visibleLine(name),
      kind,
      instance,
      parked === true ? 'blocked the bot' : unsent === 0 ? '-' : `${unsent} unsent`,
    ].map((text) => cell(text)),
  )
  const colour = wantsColour(world, world.streams.stdout)
  return first + terminalText(inColumns([header, ...rows], ALIGN), colour)
}

const ALIGN = ['right', 'left', 'left', 'left', 'left'] as const
