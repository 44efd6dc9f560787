import * as z from 'zod'
import { readBot, writeBot } from '../../../../host/telegram/bot-record.ts'
import { changeChats } from '../../../../host/telegram/chat-register.ts'
import { writeSettings } from '../../../../host/settings.ts'
import { baseUrl, isHttpsOrLocal } from '../../../../model/base-url.ts'
import { failed, ok, type NextAction, type Result } from '../../../../model/errors.ts'
import { TELEGRAM_API, type Settings } from '../../../../model/settings.ts'
import { nonEmptyValue, TELEGRAM_VARIABLE } from '../../../../session/settings/credentials.ts'
import { readAllSettings } from '../../../../session/settings/stored-settings.ts'
import type { TELEGRAM_CONNECT } from '../../definitions/telegram.ts'
import { canAsk } from '../../input/confirm.ts'
import { typedLine } from '../../input/typed-line.ts'
import { visibleLine } from '../../text/visible-text.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import { inSettings, type SettingsPlace } from '../../world/settings-place.ts'
import type { CliWorld, ProvedBot } from '../../world/world.ts'
import { askGateway, stateWords } from './telegram-place.ts'

export const Output = z.object({
  ok: z.literal(true),
  bot: z.object({ id: z.int(), username: z.string() }),
  api_root: z.string(),
  running: z
    .boolean()
    .describe('Whether the local server runs, so that the bot receives messages.'),
  forgotten_chats: z.int().describe('Chats that were paired with another bot before.'),
})

/** Proves the token of a bot and stores it. A running server begins with it at once. */
export const run: Run<typeof TELEGRAM_CONNECT> = async (world) => {
  const token = await givenToken(world)
  if (!token.ok) return token
  return inSettings(world, {}, 'none', async (place) => {
    const stored = await readAllSettings(place.home, undefined)
    if (!stored.ok) return stored
    const settings = stored.value.userFile?.settings ?? {}
    const root = apiRoot(settings)
    if (!root.ok) return root
    const bot = await world.proveBot({ token: token.value, apiRoot: root.value })
    if (!bot.ok) return bot
    const forgotten = await store(world, place, settings, {
      ...bot.value,
      ...token,
      root: root.value,
    })
    if (!forgotten.ok) return forgotten
    const gateway = await askGateway(place.home, { reload: 'yes' })
    if (!gateway.ok) return gateway
    const { id, username } = bot.value
    const output = {
      bot: { id, username },
      api_root: root.value,
      running: gateway.value !== undefined,
      forgotten_chats: forgotten.value,
    }
    const trouble = gateway.value === undefined ? '' : stateWords(gateway.value)
    return answer(world, output, () => words(output, trouble))
  })
}

const TOKEN = /^\d{3,20}:[A-Za-z0-9_-]{20,100}$/
const LONGEST_TOKEN = 200

/** Never from an argument: other users of the machine see those. */
async function givenToken({ env, streams }: CliWorld): Promise<Result<string>> {
  const token = nonEmptyValue(env[TELEGRAM_VARIABLE]) ?? (await enteredToken(streams))
  if (token === undefined)
    return failed('invalid_args', 'No token: pass it on standard input.', {}, [FROM_FILE])
  if (TOKEN.test(token.trim())) return ok(token.trim())
  return failed('invalid_args', 'This is not the token of a Telegram bot.', {}, [
    { action: 'Copy it from @botfather; it looks like 123456789:AAE… with 35 more characters.' },
  ])
}

const FROM_FILE: NextAction = {
  action: 'Read it from a file, or set TELEGRAM_BOT_TOKEN.',
  command: 'hawser telegram connect < FILE',
}

async function enteredToken(streams: CliWorld['streams']): Promise<string | undefined> {
  const { stdin } = streams
  if (!stdin.isTTY) return nonEmptyValue((await stdin.all(LONGEST_TOKEN))?.toString('utf8'))
  if (!canAsk(streams)) return undefined
  const question = 'Token of the bot, from @botfather (not shown): '
  return nonEmptyValue(await typedLine(streams, { question, echo: false, longest: LONGEST_TOKEN }))
}

function apiRoot({ telegram }: Settings): Result<string> {
  const text = telegram?.api_root ?? TELEGRAM_API
  const url = baseUrl(text)
  if (url !== undefined && isHttpsOrLocal(url)) return ok(text.replace(/\/+$/, ''))
  const message =
    'telegram.api_root is plain http to another machine, which would expose the token.'
  return failed('not_configured', message, {}, [
    { action: 'Use https, or a server on this machine.' },
    { action: 'Use that of Telegram.', command: 'hawser config set telegram.api_root' },
  ])
}

/**
 * The number of chats that were forgotten: message numbers of another bot mean other messages. The token is stored last, since
 * nothing begins without it.
 */
async function store(
  { clock }: CliWorld,
  { home, ids }: SettingsPlace,
  settings: Settings,
  bot: ProvedBot & { readonly value: string; readonly root: string },
): Promise<Result<number>> {
  const place = { home, ids, clock }
  const before = await readBot(place)
  if (!before.ok) return before
  let forgotten = 0
  const isOther = before.value !== undefined && before.value.id !== bot.id
  const changed = await changeChats(place, (chats) => {
    forgotten = isOther ? chats.length : 0
    return isOther ? [] : chats
  })
  if (!changed.ok) return changed
  const { id, username, root, value: token } = bot
  const written = await writeBot(place, { id, username, api_root: root })
  if (!written.ok) return written
  const next = { ...settings, telegram: { ...settings.telegram, token } }
  const set = await writeSettings(home, next, ids)
  return set.ok ? ok(forgotten) : set
}

function words(
  { bot: { username }, running, forgotten_chats }: Omit<z.infer<typeof Output>, 'ok'>,
  trouble: string,
): string {
  const name = visibleLine(username)
  const lines = [
    `Connected @${name}.`,
    ...(forgotten_chats === 0
      ? []
      : [
          `Chats that were paired with the other bot and must be paired again: ${forgotten_chats}.`,
        ]),
    ...(trouble === '' ? [] : [trouble]),
    ...(running ? [] : ['To receive messages, start the local server: hawser up --background']),
    `Then write to https://t.me/${name} and pair the chat with the code that it shows: hawser telegram pair CODE`,
  ]
  return `${lines.join('\n')}\n`
}
