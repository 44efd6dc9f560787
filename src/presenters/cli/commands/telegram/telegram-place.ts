import * as z from 'zod'
import { parseJson } from '../../../../encoding/json.ts'
import type { Folder } from '../../../../host/files/files.ts'
import { askServer } from '../../../../host/server/ask-server.ts'
import { announcedServer } from '../../../../host/server/server-lock.ts'
import { failed, ok, type Failed, type Result } from '../../../../model/errors.ts'

/** What the gateway of a running server says about itself. */
const GatewayAnswer = z.object({
  state: z.enum([
    'off',
    'stale',
    'unreadable',
    'receiving',
    'unreachable',
    'conflict',
    'unauthorized',
  ]),
  code: z.int().optional(),
  network: z.string().optional(),
  chats: z.array(z.object({ chat: z.int(), is_parked: z.boolean(), waiting: z.int() })).optional(),
  found: z
    .object({ chat: z.int(), kind: z.enum(['private', 'group']), name: z.string() })
    .optional(),
})
export type GatewayAnswer = Readonly<z.infer<typeof GatewayAnswer>>

/** Asks the gateway of the running server; `undefined` if no server runs. */
export async function askGateway(
  home: Folder,
  asked: { readonly reload?: 'yes'; readonly code?: string } = {},
): Promise<Result<GatewayAnswer | undefined>> {
  const found = await announcedServer(home)
  if (!found.ok) return found
  if (found.value === undefined || found.value === 'starting') return ok(undefined)
  const answer = await askServer(found.value, '/control/telegram', asked)
  if (!answer.ok) return answer
  const { data } = GatewayAnswer.safeParse(parseJson(answer.value))
  return data === undefined ? failed('internal', 'The local server did not answer.') : ok(data)
}

export const NO_BOT: Failed = failed('not_configured', 'No Telegram bot is connected.', {}, [
  { action: 'Create one with @botfather, and connect it.', command: 'hawser telegram connect' },
])

/** Why a bot receives nothing, and what to do; empty if it does. */
export function stateWords({ state, code, network }: GatewayAnswer): string {
  switch (state) {
    case 'receiving':
    case 'off':
      return ''
    case 'unreachable':
      return `Telegram does not answer (${network ?? `error ${code ?? 'unknown'}`}). Hawser tries again by itself.`
    case 'conflict':
      return 'Another program receives the messages of this bot, or it has a webhook, so this server has stopped. End the other one, then: hawser telegram connect'
    case 'unauthorized':
      return 'Telegram does not accept the token any more. Get another one from @botfather, then: hawser telegram connect'
    case 'stale':
      return 'telegram.api_root has changed since the bot was connected, and the token is not sent there. To connect it there: hawser telegram connect'
    case 'unreadable':
      return 'The settings or records of the bot cannot be read. To find out why: hawser doctor'
    default:
      return state satisfies never
  }
}
