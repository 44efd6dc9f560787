import { inOrder } from '../../host/in-order.ts'
import { readBot } from '../../host/telegram/bot-record.ts'
import { pairedChats } from '../../host/telegram/chat-register.ts'
import { ok, type Result } from '../../model/errors.ts'
import { TELEGRAM_API } from '../../model/settings.ts'
import { loadSettings } from '../../session/settings/settings.ts'
import { openBotApi, type BotAccess } from './bot-api.ts'
import { PairingCodes } from './pairing-codes.ts'
import type { GatewayState, GatewayWorld, TelegramGateway } from './gateway.ts'
import { RunningBot, type RunningBotParts } from './running-bot.ts'

/** Opens the gateway, and begins with the bot that is connected, if there is one. */
export async function openGateway(world: GatewayWorld): Promise<TelegramGateway> {
  const codes = new PairingCodes(world.clock, world.secret)
  const order = inOrder()
  let running: RunningBot | undefined
  let state: GatewayState = { state: 'off' }
  let isClosed = false
  const stop = async () => {
    await running?.close()
    running = undefined
  }
  const load = async () => {
    if (isClosed) return
    const known = await connectedBot(world)
    if (!known.ok || typeof known.value === 'string') {
      await stop()
      state = { state: known.ok && typeof known.value === 'string' ? known.value : 'unreadable' }
      if (!known.ok) world.note({ error: known.error.message })
      return
    }
    const chats = await pairedChats(world)
    if (!chats.ok) {
      await stop()
      state = { state: 'unreadable' }
      world.note({ error: chats.error.message })
      return
    }
    const { access, ...bot } = known.value
    if (running?.serves(known.value) !== true) {
      await stop()
      const api = await openBotApi(access, world)
      const parts: RunningBotParts = { ...world, ...bot, api, access, codes }
      running = new RunningBot(parts)
    }
    await running.use(chats.value)
  }
  await order(load)
  return {
    state: () => running?.state() ?? state,
    find: (code) => codes.find(code),
    reload: () => order(load),
    close: async () => {
      isClosed = true
      // A reload that is under way may begin with a bot.
      await order(stop)
    },
  }
}

interface ConnectedBot {
  readonly access: BotAccess
  readonly me: { readonly id: number; readonly username: string }
  readonly drafts: boolean
}

/** The bot that is connected, with its token; or why there is none. */
async function connectedBot({
  home,
}: Pick<GatewayWorld, 'home'>): Promise<Result<ConnectedBot | 'off' | 'stale'>> {
  const bot = await readBot({ home })
  if (!bot.ok) return bot
  const loaded = await loadSettings(home, undefined)
  if (!loaded.ok) return loaded
  const { token, api_root = TELEGRAM_API, drafts = false } = loaded.value.settings.telegram ?? {}
  if (bot.value === undefined || token === undefined) return ok('off')
  const apiRoot = api_root.replace(/\/+$/, '')
  const { id, username, api_root: provedRoot } = bot.value
  // A token is sent only to the server that a person proved it with.
  if (apiRoot !== provedRoot) return ok('stale')
  return ok({ access: { token, apiRoot }, me: { id, username }, drafts })
}
