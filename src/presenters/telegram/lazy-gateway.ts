import { inOrder } from '../../host/in-order.ts'
import { readBot } from '../../host/telegram/bot-record.ts'
import type { GatewayWorld, TelegramGateway } from './gateway.ts'

/** The gateway of a server. Loaded when a bot is connected: most homes have none. */
export async function lazyGateway(
  world: Omit<GatewayWorld, 'fetch' | 'secret'>,
): Promise<TelegramGateway> {
  const order = inOrder()
  let opened: TelegramGateway | undefined
  let isClosed = false
  const load = async () => {
    if (isClosed) return
    if (opened !== undefined) return opened.reload()
    const bot = await readBot(world)
    if (bot.ok && bot.value === undefined) return
    const [{ openGateway }, { httpFetch }, { newSecret }] = await Promise.all([
      import('./serve.ts'),
      import('../../host/net/http.ts'),
      import('../../host/server/secret.ts'),
    ])
    opened = await openGateway({ ...world, fetch: httpFetch(), secret: newSecret })
  }
  await order(load)
  return {
    state: () => opened?.state() ?? { state: 'off' },
    find: (code) => opened?.find(code),
    reload: () => order(load),
    close: async () => {
      isClosed = true
      await order(async () => opened?.close())
    },
  }
}
