// The local server, `hawser up`, as a process of its own: how soon a Turn over HTTP shows its first text, many Sessions at once, what
// the server costs while nothing happens, and what a reader costs that never reads.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { bundled } from './bundled.ts'
import { measureIn } from './child.ts'
import { full, tell, tellSkipped } from './figure.ts'
import { httpClient, textOf, type HttpClient } from './http-client.ts'
import { noMemoryFigures } from './memory.ts'
import { builtProgram } from './program.ts'
import { inScratch } from './scratch.ts'
import { servedProgram, type ServedProgram } from './served-program.ts'

const MB = 1e6
const ROUNDS = full ? 100 : 10
const SESSIONS = full ? 200 : 20
const EVENTS = 50
const SETTLE_MS = 5_000
/** While nothing happens, Node collects garbage up to three times, 8 s apart, and then no more. */
const COLLECT_MS = 25_000
const IDLE_MS = full ? 10_000 : 2_000
const STALLED = full ? 20 : 5
const MESSAGE = 'The quay has forty berths. '.repeat(10_000)
/** Twice what a reader may cost, and what the kernel holds for it: a reader is dropped before the last one. */
const TURNS = full ? 60 : 40
/** For a reader to get the end of its stream. */
const LAST_MS = 30_000

const PROGRAM = await builtProgram()

if (noMemoryFigures === undefined) await inScratch(measureAll)
else tellSkipped('server', noMemoryFigures)

async function measureAll(folder: string): Promise<void> {
  const clients = await bundled('server.worker.ts', join(folder, 'clients'))
  const measure = ({ origin, token, workspace }: ServedProgram, order: object) =>
    measureIn(clients, [JSON.stringify(order), JSON.stringify({ origin, token, workspace })])

  await served(folder, 'first-delta', [], async (server) => {
    const library = join(PROGRAM, '..', 'index.js')
    const own = { workspace: join(folder, 'own'), home: join(folder, 'own-home') }
    await mkdir(own.workspace)
    const of = await measure(server, { measure: 'first-delta', library, own, rounds: ROUNDS })
    for (const state of ['open', 'closed']) {
      tell({
        bench: `server: time to the first delta of a Turn in a Session that is ${state}, relative to the same in process`,
        ratio: of(`${state}_ratio`),
        bar: '<= 1.5',
        more: { ms: of(`${state}_http_ms`), floor_ms: of(`${state}_ms`) },
      })
    }
  })
  await served(folder, 'many', [], async (server) => {
    await server.forgetPeak()
    const of = await measure(server, { measure: 'many', sessions: SESSIONS, events: EVENTS })
    tell({
      bench: `server: p99 ms from append to arrival, in ${SESSIONS} Sessions with 40 Turns a second`,
      ratio: of('p99_ms'),
      bar: '<= 250',
      more: {
        median_ms: of('median_ms'),
        max_ms: of('max_ms'),
        events: of('events'),
        busy_p99_ms: of('busy_p99_ms'),
        busy_events_per_s: of('busy_events_per_s'),
      },
    })
    tell({
      bench: `server: peak memory with ${SESSIONS} Sessions at once, in MB`,
      ratio: (await server.memory('peak')) / MB,
      bar: '<= 400',
      more: {},
    })
  })
  await served(folder, 'idle', [], tellIdle)
  const live = await bundled('live.worker.ts', join(folder, 'live'))
  await served(folder, 'stalled', ['--expose-gc', '--import', live], tellStalled)
}

async function served(
  folder: string,
  name: string,
  options: readonly string[],
  work: (server: ServedProgram) => Promise<void>,
): Promise<void> {
  const server = await servedProgram(PROGRAM, join(folder, name), options)
  try {
    await work(server)
  } finally {
    await server.stop()
  }
}

async function tellIdle(server: ServedProgram): Promise<void> {
  await setTimeout(SETTLE_MS)
  const bytes = await server.memory('now')
  await setTimeout(COLLECT_MS)
  const before = await server.ticks()
  await setTimeout(IDLE_MS)
  const ticks = (await server.ticks()) - before
  const client = httpClient(server.origin, server.token)
  await client.turn(await client.newSession(server.workspace), 'Hello')
  client.close()
  await setTimeout(SETTLE_MS)
  tell({
    bench: 'server: memory of an idle server, in MB',
    ratio: bytes / MB,
    bar: '<= 80',
    more: { after_a_turn_mb: (await server.memory('now')) / MB },
  })
  tell({
    bench: `server: CPU ticks of 10 ms of an idle server in ${IDLE_MS / 1000} s`,
    ratio: ticks,
    bar: '<= 0',
    more: {},
  })
}

/** The same Turns in two Sessions, one of which has readers that never read: the difference is what they cost. */
async function tellStalled(server: ServedProgram): Promise<void> {
  const client = httpClient(server.origin, server.token)
  // What the first Turns allocate permanently is not part of the cost of a reader.
  await grown(server, client, 0)
  const without = await grown(server, client, 0)
  const with_ = await grown(server, client, STALLED)
  client.close()
  const costs = with_.map((bytes, turn) => (bytes - (without[turn] ?? 0)) / STALLED / MB)
  tell({
    bench: 'server: most memory that a reader costs that never reads, in MB',
    ratio: Math.max(...costs),
    bar: '<= 4',
    more: { readers: STALLED, at_the_end_mb: costs.at(-1) ?? 0, passed_mb: passedMb() },
  })
}

function passedMb(): number {
  return (TURNS * MESSAGE.length) / MB
}

/** How much the live memory of the server has grown after each Turn of a new Session. Fails unless every such reader is dropped. */
async function grown(
  server: ServedProgram,
  client: HttpClient,
  readers: number,
): Promise<readonly number[]> {
  const session = await client.newSession(server.workspace)
  // Keeps the Session open.
  const reading = await client.watch(session)
  reading.resume()
  const before = await server.live()
  const stalled = await Promise.all(Array.from({ length: readers }, () => client.watch(session)))
  const growth: number[] = []
  while (growth.length < TURNS) {
    await client.turn(session, MESSAGE)
    growth.push((await server.live()) - before)
  }
  for (const reader of stalled) {
    const text = await Promise.race([textOf(reader), setTimeout(LAST_MS, '', { ref: false })])
    if (!text.includes('event: resync')) throw new Error('a reader was not dropped')
  }
  reading.destroy()
  return growth
}
