import * as z from 'zod'
import type { Clock } from '../../host/clock.ts'
import type { Fetch } from '../../host/net/http.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { openBotApi, type BotAccess, type BotFailure } from './bot-api.ts'
import { Me } from './protocol.ts'

const Webhook = z.object({ url: z.string() })

/** The bot of a token. A bot whose messages go elsewhere, to a webhook, is refused: the gateway would receive none. */
export async function proveBot(
  access: BotAccess,
  world: { readonly fetch: Fetch; readonly clock: Clock },
): Promise<Result<Me>> {
  const api = await openBotApi(access, world)
  const me = await api.call('getMe', undefined)
  if (!me.ok) return refusal(me.failure, access)
  const bot = Me.safeParse(me.value)
  if (!bot.success) return notTelegram(access)
  const webhook = await api.call('getWebhookInfo', undefined)
  if (!webhook.ok) return refusal(webhook.failure, access)
  const { data } = Webhook.safeParse(webhook.value)
  if (data === undefined || data.url === '') return ok(bot.data)
  return failed(
    'not_configured',
    `@${bot.data.username} has a webhook, which receives its messages.`,
    {},
    [{ action: 'Remove the webhook where it was set, or connect another bot.' }],
  )
}

function refusal({ code, network }: BotFailure, access: BotAccess): Failed {
  if (code === 401 || code === 404)
    return failed('auth', 'Telegram does not accept this token.', { code }, [
      { action: 'Copy the token from @botfather again.', command: 'hawser telegram connect' },
    ])
  if (network === 'invalid_response') return notTelegram(access)
  const why = network === undefined ? `it answered with the error ${code}` : network
  const message = `Could not reach Telegram at ${access.apiRoot}: ${why}.`
  return failed('network', message, { code, network }, [
    { action: 'Check the connection and the setting telegram.api_root, and try again.' },
  ])
}

function notTelegram({ apiRoot }: BotAccess): Failed {
  const message = `${apiRoot} is not a Bot API server.`
  return failed('invalid_response', message, {}, [
    { action: 'Check the setting.', command: 'hawser config get telegram.api_root' },
  ])
}
