// The guest of relay.bench.ts: a Turn through the relay, one through a bare relay and one with a direct connection, which
// alternate by round trip.
import { writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { systemClock } from '../src/host/clock.ts'
import { relayFetch } from '../src/host/net/relay-fetch.ts'
import { ok } from '../src/model/errors.ts'
import { RELAY_URL } from '../src/model/tether/relay-url.ts'
import { chatProvider } from '../src/providers/chat/stream.ts'
import { messagesProvider } from '../src/providers/messages/stream.ts'
import { responsesProvider } from '../src/providers/responses/stream.ts'
import { Harness } from '../src/session/harness.ts'
import { openParts } from '../test/support/session/harness-parts.ts'
import { value } from '../test/support/log/story.ts'
import { median, medianRatio } from './figure.ts'
import { takingTurns } from './taking-turns.ts'
import { timedModel, type TimedModel } from './timed-model.ts'

const PROVIDERS = { messages: messagesProvider, responses: responsesProvider, chat: chatProvider }

const [directUrl = '', root = '', dialect, file = '', trips = '', count = ''] =
  process.argv.slice(2)
if (dialect !== 'messages' && dialect !== 'responses' && dialect !== 'chat') {
  throw new Error(`there is no dialect ${dialect}`)
}
const sockets = { relayed: new Socket({ fd: 5 }), bare: new Socket({ fd: 6 }) }
console.log(JSON.stringify(await measure(PROVIDERS[dialect], Number(count))))
for (const socket of Object.values(sockets)) socket.destroy()

async function measure(
  providerOf: (typeof PROVIDERS)[keyof typeof PROVIDERS],
  measured: number,
): Promise<Record<string, number>> {
  const common = { idleMs: 60_000, clock: systemClock }
  const through = (socket: Socket) =>
    providerOf({ ...common, key: undefined, baseUrl: RELAY_URL, fetch: relayFetch(socket) })
  const ways = {
    relayed: timedModel(through(sockets.relayed)),
    bare: timedModel(through(sockets.bare)),
    direct: timedModel(providerOf({ ...common, key: 'key-of-the-bench', baseUrl: directUrl })),
  }
  const { workspace, parts, close } = await openParts(root, {
    model: {
      providerOf: async (name) => ok(new Map(Object.entries(ways)).get(name) ?? ways.direct),
      limits: { provider_calls: 100_000, retries: 0 },
    },
  })
  await writeFile(join(workspace, file), 'The tide turns at six.\n'.repeat(20).slice(0, 300))
  const harness = new Harness(parts)
  const turns = takingTurns(Object.keys(ways).length)
  const runTurn = async (provider: string) => {
    const session = value(await harness.create({ provider, model: 'bench' }))
    const { done } = value(await session.admit('Read the notes again and again.'))
    const ended = value(await done)
    turns.end()
    if (ended.status !== 'completed') {
      throw new Error(`the Turn was ${ended.status}: ${JSON.stringify(ended.error)}`)
    }
  }
  for (const model of Object.values(ways)) model.onRequest = () => turns.next()
  await Promise.all(Object.keys(ways).map(runTurn))
  await close()
  const { relayed, bare, direct } = ways
  const last = ({ ms }: TimedModel) => ms.slice(-measured)
  const added = (to: TimedModel) => median(last(to).map((ms, at) => ms - (last(direct)[at] ?? ms)))
  return {
    ratio: medianRatio(last(relayed), last(bare)),
    direct_ratio: medianRatio(last(relayed), last(direct)),
    bare_direct_ratio: medianRatio(last(bare), last(direct)),
    relayed_ms: median(last(relayed)),
    bare_ms: median(last(bare)),
    direct_ms: median(last(direct)),
    added_ms: added(relayed),
    bare_added_ms: added(bare),
    request_bytes: relayed.bytes,
    trips: Number(trips),
  }
}
