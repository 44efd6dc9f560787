// The guest of relay.bench.ts: a Turn through the relay and one with a direct connection, which alternate by round trip.
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
import { openParts } from '../test/support/harness-parts.ts'
import { value } from '../test/support/story.ts'
import { median, medianRatio } from './figure.ts'
import { takingTurns } from './taking-turns.ts'
import { timedModel } from './timed-model.ts'

const PROVIDERS = { messages: messagesProvider, responses: responsesProvider, chat: chatProvider }

const [directUrl = '', root = '', dialect, file = '', trips = '', count = ''] =
  process.argv.slice(2)
if (dialect !== 'messages' && dialect !== 'responses' && dialect !== 'chat') {
  throw new Error(`there is no dialect ${dialect}`)
}
const socket = new Socket({ fd: 5 })
console.log(JSON.stringify(await measure(PROVIDERS[dialect], Number(count))))
socket.destroy()

async function measure(
  providerOf: (typeof PROVIDERS)[keyof typeof PROVIDERS],
  measured: number,
): Promise<Record<string, number>> {
  const common = { idleMs: 60_000, clock: systemClock }
  const way = { key: undefined, baseUrl: RELAY_URL, fetch: relayFetch(socket) }
  const relayed = timedModel(providerOf({ ...common, ...way }))
  const direct = timedModel(providerOf({ ...common, key: 'key-of-the-bench', baseUrl: directUrl }))
  const { workspace, parts, close } = await openParts(root, {
    model: {
      providerOf: async (name) => ok(name === 'relayed' ? relayed : direct),
      limits: { provider_calls: 100_000, retries: 0 },
    },
  })
  await writeFile(join(workspace, file), 'The tide turns at six.\n'.repeat(20).slice(0, 300))
  const harness = new Harness(parts)
  const turns = takingTurns()
  const runTurn = async (provider: string) => {
    const session = value(await harness.create({ provider, model: 'bench' }))
    const { done } = value(await session.admit('Read the notes again and again.'))
    const { ended } = value(await done)
    turns.end()
    if (ended.status !== 'completed') {
      throw new Error(`the Turn was ${ended.status}: ${JSON.stringify(ended.error)}`)
    }
  }
  for (const model of [relayed, direct]) model.onRequest = () => turns.next()
  await Promise.all([runTurn('relayed'), runTurn('direct')])
  await close()
  const [last, lastDirect] = [relayed.ms.slice(-measured), direct.ms.slice(-measured)]
  return {
    ratio: medianRatio(last, lastDirect),
    relayed_ms: median(last),
    direct_ms: median(lastDirect),
    request_bytes: relayed.bytes,
    trips: Number(trips),
  }
}
