// One measurement of dialects.bench.ts: a Turn of the given number of tool round trips through a real provider, its last ones alternating with a
// short Turn. Each measured round trip is followed by one of the floor, with a request of the same size to the same server.
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { systemClock } from '../src/host/clock.ts'
import { ok } from '../src/model/errors.ts'
import { chatProvider } from '../src/providers/chat/stream.ts'
import { messagesProvider } from '../src/providers/messages/stream.ts'
import { responsesProvider } from '../src/providers/responses/stream.ts'
import { Harness } from '../src/session/harness.ts'
import type { Session } from '../src/session/session.ts'
import { openParts } from '../test/support/session/harness-parts.ts'
import { value } from '../test/support/log/story.ts'
import { median, medianRatio, timed } from './figure.ts'
import { FloorTrips } from './floor-trips.ts'
import { logAmounts } from './log-growth.ts'
import { takingTurns } from './taking-turns.ts'
import { timedModel } from './timed-model.ts'

const SOON = 20
const EARLY = 50
const AROUND = 50
const PROVIDERS = { messages: messagesProvider, responses: responsesProvider, chat: chatProvider }

const [root = '', dialect, late = '', file = '', longUrl = '', youngUrl = '', floorUrl = ''] =
  process.argv.slice(2)
if (dialect !== 'messages' && dialect !== 'responses' && dialect !== 'chat') {
  throw new Error(`there is no dialect ${dialect}`)
}
console.log(JSON.stringify(await measure(PROVIDERS[dialect], Number(late))))

async function measure(
  providerOf: (typeof PROVIDERS)[keyof typeof PROVIDERS],
  last: number,
): Promise<Record<string, number>> {
  const common = { key: 'key-of-the-bench', idleMs: 60_000, clock: systemClock }
  const long = timedModel(providerOf({ ...common, baseUrl: longUrl }))
  const young = timedModel(providerOf({ ...common, baseUrl: youngUrl }))
  const { workspace, parts, close } = await openParts(root, {
    model: {
      providerOf: async (name) => ok(name === 'long' ? long : young),
      limits: { provider_calls: 100_000, retries: 0 },
    },
  })
  const path = join(workspace, file)
  await writeFile(path, 'The tide turns at six.\n'.repeat(20).slice(0, 300))
  const harness = new Harness(parts)
  const begin = async (provider: string) =>
    value(await harness.create({ provider, model: 'bench' }))
  const session = await begin('long')
  const log = await open(join(root, 'floor'), 'w')
  const [longFloor, youngFloor] = [new FloorTrips(), new FloorTrips()]
  const [longFloorMs, youngFloorMs]: [number[], number[]] = [[], []]
  const turns = takingTurns()
  let before = await logAmounts(root, session)
  let each = before
  let besides = Promise.resolve()

  long.onRequest = async (trip, bytes) => {
    if (trip === EARLY) before = await logAmounts(root, session)
    if (trip < last - AROUND / 2) return
    // A short Turn is comparable only now: the first one of a process waits for the compiler.
    if (trip === last - AROUND / 2) {
      const after = await logAmounts(root, session)
      each = {
        log_bytes: (after.log_bytes - before.log_bytes) / (trip - EARLY),
        syncs: (after.syncs - before.syncs) / (trip - EARLY),
      }
      longFloor.begin({ trips: trip, bytes, url: floorUrl, path, log, ...each })
      besides = runTurn(await begin('young'))
    }
    longFloorMs[trip] = await timed(() => longFloor.trip(bytes))
    if (trip < last + AROUND / 2) await turns.next()
    else turns.end()
  }
  young.onRequest = async (trip, bytes) => {
    if (trip === 0) youngFloor.begin({ trips: 0, bytes, url: floorUrl, path, log, ...each })
    youngFloorMs[trip] = await timed(() => youngFloor.trip(bytes))
    if (trip >= EARLY - AROUND / 2) await turns.next()
  }
  await runTurn(session)
  await besides
  await log.close()
  await close()
  return {
    soon_ms: median(around(young.ms, SOON)),
    soon_floor_ms: median(around(youngFloorMs, SOON)),
    soon_ratio: medianRatio(around(young.ms, SOON), around(youngFloorMs, SOON)),
    early_ms: median(around(young.ms, EARLY)),
    early_floor_ms: median(around(youngFloorMs, EARLY)),
    early_ratio: medianRatio(around(young.ms, EARLY), around(youngFloorMs, EARLY)),
    late_ms: median(around(long.ms, last)),
    late_floor_ms: median(around(longFloorMs, last)),
    late_ratio: medianRatio(around(long.ms, last), around(longFloorMs, last)),
    early_cpu_ms: median(around(young.cpuMs, EARLY)),
    late_cpu_ms: median(around(long.cpuMs, last)),
    late_bytes: long.bytes,
    ...each,
  }
}

async function runTurn(session: Session): Promise<void> {
  const { done } = value(await session.admit('Read the notes again and again.'))
  const ended = value(await done)
  if (ended.status !== 'completed') {
    throw new Error(`the Turn was ${ended.status}: ${JSON.stringify(ended.error)}`)
  }
}

function around(values: readonly number[], middle: number): readonly number[] {
  const before = Math.min(AROUND, middle) / 2
  return values.slice(middle - before, middle + before)
}
