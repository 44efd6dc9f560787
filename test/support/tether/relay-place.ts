import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { composeRelayAccess } from '../../../src/compose/relay.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { relayFetch } from '../../../src/host/net/relay-fetch.ts'
import type { Post, PostAnswer } from '../../../src/host/net/http-post.ts'
import type { Fetch } from '../../../src/host/net/http.ts'
import type { RemoteProvider } from '../../../src/model/remote-providers.ts'
import { openRelay, type Relay } from '../../../src/tether/relay/relay.ts'
import {
  NO_SPEND,
  type RelayedAccess,
  type RelayRules,
  type Spend,
} from '../../../src/tether/relay/rules.ts'
import { CANARY_KEY } from '../host/canary.ts'
import { freshFolder } from '../host/folder.ts'
import { value } from '../log/story.ts'
import type { VendorDialect } from '../providers/vendor-schemas.ts'

export const PROVIDER_OF = {
  messages: 'anthropic',
  responses: 'openai',
  chat: 'openai-chat',
} as const satisfies Record<VendorDialect, RemoteProvider>

/** A million tokens cost these dollars. */
export const PRICES = { input: 10, cached_read: 1, cache_write: 12, output: 100 }

/** What the server knows about a provider at this base URL, with a price for `model`. */
export function accessTo(
  dialect: VendorDialect,
  baseUrl: string,
  facts: object = { prices: PRICES },
): RelayedAccess {
  const entry = { base_url: baseUrl, key: CANARY_KEY }
  const settings = { providers: { [PROVIDER_OF[dialect]]: entry }, models: { model: facts } }
  return value(composeRelayAccess(PROVIDER_OF[dialect], {}, settings))
}

/** A provider without a network: each complete request is answered by `respond`. */
export function postTo(respond: Fetch): Post {
  return (url, { headers, length, signal }) => {
    const pieces: Buffer[] = []
    const send = async (): Promise<PostAnswer> => {
      const body = Buffer.concat(pieces)
      if (body.length !== length) throw new Error(`${body.length} bytes instead of ${length}`)
      const given = await respond(url, { method: 'POST', headers, body, signal })
      return { status: given.status, headers: given.headers, body: readable(given) }
    }
    let complete = () => {}
    const answer = new Promise<void>((resolve) => {
      complete = resolve
    }).then(send)
    answer.catch(() => {})
    return {
      send: (more) => void pieces.push(...more),
      end: (last) => {
        pieces.push(...last)
        complete()
      },
      destroy: () => {},
      answer,
    }
  }
}

/** Reads no further than it is read. */
function readable({ body }: Response): Readable {
  return Readable.from(body ?? [], { objectMode: false, highWaterMark: 1 })
}

/** Two connected sockets of the kind that a guest inherits. */
export async function socketPair(): Promise<readonly [Socket, Socket]> {
  const path = join(await freshFolder(), 'socket')
  const server = createServer().listen(path)
  await once(server, 'listening')
  const accepted = new Promise<Socket>((resolve) => void server.once('connection', resolve))
  const guest = connect(path)
  await once(guest, 'connect')
  const serverEnd = await accepted
  server.close()
  for (const socket of [guest, serverEnd]) socket.on('error', () => {})
  onTestFinished(() => {
    guest.destroy()
    serverEnd.destroy()
  })
  return [serverEnd, guest]
}

export interface RelayPlace {
  readonly relay: Relay
  /** The guest's end of the socket. */
  readonly socket: Socket
  readonly fetch: Fetch
  readonly spends: readonly Spend[]
  readonly lines: readonly string[]
}

/** A relay for the model `model`, and its guest in the same process. */
export async function relayPlace(
  access: RelayedAccess,
  rules: Partial<Omit<RelayRules, 'access'>> = {},
): Promise<RelayPlace> {
  const [serverEnd, socket] = await socketPair()
  const spends: Spend[] = []
  const lines: string[] = []
  const relay = openRelay(serverEnd, {
    access,
    models: ['model'],
    spentBefore: NO_SPEND,
    onSpend: (total) => void spends.push(total),
    clock: systemClock,
    log: (line) => void lines.push(line),
    ...rules,
  })
  onTestFinished(() => relay.close())
  return { relay, socket, fetch: relayFetch(socket), spends, lines }
}
