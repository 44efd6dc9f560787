// The clients of server.bench.ts, in a separate process.
import process from 'node:process'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import type { openWorkspace, Session } from '../src/index.ts'
import { value } from '../test/support/log/story.ts'
import { EventReader } from './event-reader.ts'
import { median, medianRatio, quantile } from './figure.ts'
import { httpClient } from './http-client.ts'

/** Not bundled into this script: what is measured is the library as it is built. */
const Library = z.object({ openWorkspace: z.custom<typeof openWorkspace>() })

const Order = z.discriminatedUnion('measure', [
  z.object({
    measure: z.literal('first-delta'),
    /** The built library, and a workspace and a home for it. */
    library: z.string(),
    own: z.object({ workspace: z.string(), home: z.string() }),
    rounds: z.int(),
  }),
  z.object({ measure: z.literal('many'), sessions: z.int(), events: z.int() }),
])
const Server = z.object({ origin: z.string(), token: z.string(), workspace: z.string() })

/** 40 Turns a second: with 200 Sessions, one of each every 5 s. */
const PACE_MS = 25
/** The model answers it at once: it makes no call. */
const MESSAGE = 'What happened?'
const [given = '', at = ''] = process.argv.slice(2)
const order = Order.parse(JSON.parse(given))
const { origin, token, workspace } = Server.parse(JSON.parse(at))
const client = httpClient(origin, token)
console.log(
  JSON.stringify(
    order.measure === 'first-delta'
      ? await firstDeltas(order)
      : await manySessions(order.sessions, order.events),
  ),
)
client.close()

/**
 * The time to the first delta of a Turn, over HTTP and in this process, in turn. `open`: the Session is watched, or open.
 * `closed`: it is opened for the Turn, together with its workspace. Each Turn is the first of a Session.
 */
async function firstDeltas({ library, own, rounds }: Order<'first-delta'>) {
  const built = Library.parse(await import(pathToFileURL(library).href))
  const env = { HAWSER_PROVIDER: 'rehearsal' }
  const opened = async () =>
    value(await built.openWorkspace(own.workspace, { home: own.home, env }))
  const ms = { open: list(), openHttp: list(), closed: list(), closedHttp: list() }

  const openHere = async () => {
    const place = await opened()
    const session = value(await place.create())
    const started = performance.now()
    const { ended } = await firstDelta(session)
    ms.open.push(performance.now() - started)
    await ended
    await session.close()
    await place.close()
  }
  const closedHere = async () => {
    const before = await opened()
    const { id } = value(await before.create())
    await before.close()
    const started = performance.now()
    const place = await opened()
    const session = value(await place.resume(id))
    const { ended } = await firstDelta(session)
    ms.closed.push(performance.now() - started)
    await ended
    await session.close()
    await place.close()
  }
  const steps = [
    openHere,
    async () => ms.openHttp.push(await firstDeltaOverHttp('watched')),
    closedHere,
    async () => ms.closedHttp.push(await firstDeltaOverHttp('closed')),
  ]
  // The first ones wait for the compiler.
  const warm = Math.ceil(rounds / 5)
  for (let round = 0; round < rounds + warm; round += 1) {
    for (const step of round % 2 === 0 ? steps : steps.toReversed()) await step()
  }
  const { open, openHttp, closed, closedHttp } = mapped(ms, (all) => all.slice(warm))
  return {
    open_ratio: medianRatio(openHttp, open),
    open_ms: median(open),
    open_http_ms: median(openHttp),
    closed_ratio: medianRatio(closedHttp, closed),
    closed_ms: median(closed),
    closed_http_ms: median(closedHttp),
  }
}

/** Starts a Turn, and resolves at its first delta. */
async function firstDelta(session: Session): Promise<{ ended: Promise<unknown> }> {
  const stop = new AbortController()
  const updates = session.stream({ after_seq: -1, signal: stop.signal })
  const { done } = value(await session.admit(MESSAGE))
  for await (const update of updates) {
    if (update.kind === 'ephemeral' && update.ephemeral.type === 'text_delta') break
  }
  stop.abort()
  return { ended: done }
}

async function firstDeltaOverHttp(state: 'watched' | 'closed'): Promise<number> {
  const id = await client.newSession(workspace)
  const watcher = state === 'watched' ? await client.watch(id) : undefined
  watcher?.resume()
  const started = performance.now()
  const { ended } = await client.firstDelta(id, MESSAGE)
  const ms = performance.now() - started
  await ended
  watcher?.destroy()
  return ms
}

/**
 * Turns in many Sessions, each with a reader. The delay of an Event is the time from its append to its arrival. `paced`: a Turn
 * starts every `PACE_MS`, in one Session after the other, so that Turns overlap but the server is not saturated. `busy`: each
 * Session starts a Turn as soon as the last one has ended, so delays are those of a queue that is always full.
 */
async function manySessions(sessions: number, events: number) {
  const paced = await delaysOf(sessions, async (readers) => {
    const running: Promise<void>[] = []
    const started = performance.now()
    for (let turn = 0; readers.some(({ reader }) => reader.next < events); turn += 1) {
      const id = readers[turn % sessions]?.id
      if (id === undefined) throw new Error('no Session')
      running.push(client.turn(id, MESSAGE, 'queue'))
      const ahead = started + (turn + 1) * PACE_MS - performance.now()
      if (ahead > 0) await setTimeout(ahead)
    }
    await Promise.all(running)
  })
  const busy = await delaysOf(sessions, async (readers) => {
    await Promise.all(
      readers.map(async ({ id, reader }) => {
        while (reader.next < events) {
          const { ends } = reader
          await client.turn(id, MESSAGE)
          await reader.untilEnds(ends + 1)
        }
      }),
    )
  })
  return {
    p99_ms: quantile(paced.delays, 0.99),
    median_ms: median(paced.delays),
    max_ms: Math.max(...paced.delays),
    events: paced.delays.length,
    busy_p99_ms: quantile(busy.delays, 0.99),
    busy_events_per_s: (busy.delays.length / busy.ms) * 1000,
  }
}

interface WatchedSession {
  readonly id: string
  readonly reader: EventReader
}

async function delaysOf(
  sessions: number,
  work: (readers: readonly WatchedSession[]) => Promise<void>,
): Promise<{ readonly delays: readonly number[]; readonly ms: number }> {
  const readers = await inOrder(sessions, async () => {
    const id = await client.newSession(workspace)
    return { id, reader: new EventReader(await client.watch(id)) }
  })
  const started = performance.now()
  await work(readers)
  const ms = performance.now() - started
  for (const { reader } of readers) reader.stop()
  return { delays: readers.flatMap(({ reader }) => reader.delays), ms }
}

type Order<Measure> = z.infer<typeof Order> & { readonly measure: Measure }

async function inOrder<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = []
  while (made.length < count) made.push(await make())
  return made
}

function mapped<Key extends string, T>(
  record: Record<Key, T>,
  change: (value: T) => T,
): Record<Key, T> {
  const changed = { ...record }
  for (const key in changed) changed[key] = change(changed[key])
  return changed
}

function list(): number[] {
  return []
}
