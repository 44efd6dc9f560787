import * as z from 'zod'
import { timestamp } from '../../../../host/clock.ts'
import { readBot } from '../../../../host/telegram/bot-record.ts'
import { changeChats, type PairedChat } from '../../../../host/telegram/chat-register.ts'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import { InstanceInfoShape } from '../../../../tether/tether-shapes.ts'
import type { InstanceInfo, Tether } from '../../../../tether/tether.ts'
import type { TELEGRAM_PAIR } from '../../definitions/telegram.ts'
import { wholePath } from '../../input/whole-path.ts'
import { visibleLine } from '../../text/visible-text.ts'
import { answer } from '../../world/answer.ts'
import type { CommandInput, Run } from '../../world/command.ts'
import { inSettings } from '../../world/settings-place.ts'
import type { CliWorld } from '../../world/world.ts'
import { writesWords } from '../instance/instance-words.ts'
import { instancesOf } from '../instance/instances-place.ts'
import { askGateway, NO_BOT, type GatewayAnswer } from './telegram-place.ts'

export const Output = z.object({
  ok: z.literal(true),
  chat: z.object({ chat: z.int(), kind: z.enum(['private', 'group']), name: z.string() }),
  instance: InstanceInfoShape,
  created: z.boolean().describe('Whether the Instance was created for this chat.'),
})

/** Pairs the chat that shows a code. A running server begins with it at once. */
export const run: Run<typeof TELEGRAM_PAIR> = async (world, input) =>
  inSettings(world, {}, 'none', async ({ home, ids }) => {
    const bot = await readBot({ home })
    if (!bot.ok) return bot
    if (bot.value === undefined) return NO_BOT
    const [code] = input.args
    const gateway = await askGateway(home, { code })
    if (!gateway.ok) return gateway
    const chat = gateway.value?.found
    if (chat === undefined) return noSuchCode(gateway.value)
    const tether = instancesOf(world)
    const found = await chosenInstance(world, tether, input, chat.chat)
    if (!found.ok) return found
    const { instance, isNew: created } = found.value
    const newest = await tether.poll(instance.id, { before_seq: Number.MAX_SAFE_INTEGER, limit: 1 })
    if (!newest.ok) return newest
    const paired: PairedChat = {
      ...chat,
      instance: instance.id,
      paired_at: timestamp(world.clock),
      after_seq: newest.value.frames.at(-1)?.seq ?? 0,
    }
    const changed = await changeChats({ home, ids, clock: world.clock }, (chats) => [
      ...chats.filter((one) => one.chat !== chat.chat),
      paired,
    ])
    if (!changed.ok) return changed
    const told = await askGateway(home, { reload: 'yes' })
    if (!told.ok) return told
    return answer(world, { chat, instance, created }, () => {
      const made = created ? ' It was created just now.' : ''
      return `Paired ${visibleLine(chat.name)} (${chat.chat}) with the Instance ${instance.handle}.${made}\n${writesWords(instance)}`
    })
  })

function noSuchCode(gateway: GatewayAnswer | undefined): Result<never> {
  if (gateway === undefined)
    return failed(
      'not_found',
      'The local server is not running, so no chat shows a valid code.',
      {},
      [{ action: 'Start it, and write to the bot again.', command: 'hawser up --background' }],
    )
  return failed(
    'not_found',
    'No chat shows this code. It may have been used, or be over an hour old.',
    {},
    [
      { action: 'Write to the bot again to get another one.' },
      { action: 'Show whether it receives messages.', command: 'hawser telegram status' },
    ],
  )
}

interface ChosenInstance {
  readonly instance: InstanceInfo
  readonly isNew: boolean
}

/** The named one, or one for this chat; created if there is none. */
async function chosenInstance(
  world: CliWorld,
  tether: Tether,
  { options: { instance: named, workspace: folder } }: CommandInput<typeof TELEGRAM_PAIR>,
  chat: number,
): Promise<Result<ChosenInstance>> {
  const handle = named ?? `telegram-${chat < 0 ? 'group-' : ''}${Math.abs(chat)}`
  const known = await tether.info(handle)
  if (known.ok) {
    if (folder === undefined) return ok({ instance: known.value, isNew: false })
    const message = `The Instance ${handle} exists and has its own workspace.`
    return failed('invalid_args', message, { instance: handle }, [
      {
        action: 'Leave out --workspace, or map it first.',
        command: `hawser instance map ${handle} DIR`,
      },
    ])
  }
  if (known.error.kind !== 'not_found') return known
  const workspace = folder === undefined || folder === 'own' ? ok('own') : wholePath(world, folder)
  if (!workspace.ok) return workspace
  const made = await tether.create({ handle, workspace: workspace.value }, 'operator')
  return made.ok ? ok({ instance: made.value, isNew: true }) : made
}
