import { expect } from 'vitest'
import { systemClock } from '../../../src/host/clock.ts'
import { readSpan } from '../../../src/host/files/files.ts'
import { systemIds } from '../../../src/host/ids.ts'
import type { Lease } from '../../../src/log/lease-store.ts'
import type { LogStore, ReadableLog, WritableLog } from '../../../src/log/log-store.ts'
import type { LogStores } from '../../../src/log/place.ts'
import { SessionId } from '../../../src/model/ids.ts'
import { thrown } from '../../support/host/thrown.ts'
import { value } from '../../support/log/story.ts'
import { atEveryStep, untilCut, type Judge } from './at-every-step.ts'
import type { ContractCheck, EngineUnderTest } from './stores-under-test.ts'

const ids = systemIds(systemClock)

/** What every `LogStore` must do, whatever its storage. Each check names a promise of its comments. */
export const LOG_STORE_CONTRACT: readonly ContractCheck[] = [
  {
    title:
      'returns the batches in the order of the appends, from any place, forwards and backwards',
    check: withLog(async ({ log, stores, session }) => {
      const all = await appendAll(log, [line(1), line(700), line(30)])
      const reader = await opened(stores, session)
      expect(await textOf(reader)).toEqual(all)
      for (const from of [0, 1, 512, all.length - 1, all.length])
        expect(await readSpan(reader, from, all.length)).toEqual(all.subarray(from))
      const backwards: Buffer[] = []
      for (let end = all.length; end > 0; end -= 100)
        backwards.unshift(await readSpan(reader, Math.max(0, end - 100), Math.min(100, end)))
      expect(Buffer.concat(backwards)).toEqual(all)
      expect(await reader.read(Buffer.alloc(9), all.length + 1)).toBe(0)
      await reader.close()
    }),
  },
  {
    title: 'appends and returns a line of 1 MiB, and a batch of several',
    check: withLog(async ({ log, stores, session }) => {
      const mebibyte = Buffer.alloc(1024 * 1024, 'é\n')
      const all = await appendAll(log, [mebibyte, Buffer.concat([mebibyte, mebibyte])])
      const reader = await opened(stores, session)
      expect((await textOf(reader)).equals(all)).toBe(true)
      await reader.close()
    }),
  },
  {
    title: 'refuses to create a Log that exists, and opens none that does not',
    check: withLog(async ({ stores, session, lease }) => {
      expect(await thrown(stores.logs.create(session, lease))).toMatchObject({ code: 'EEXIST' })
      expect(await stores.logs.open(ids.session())).toBeUndefined()
      expect(await stores.logs.openToWrite(ids.session())).toBeUndefined()
    }),
  },
  {
    title: 'a writer that released its lease cannot append, settle, cut, create or delete',
    check: withLog(async ({ log, stores, session, lease }) => {
      const all = await appendAll(log, [line(5)])
      await lease.release()
      await expectFenced(stores, session, log, lease, all)
    }),
  },
  {
    title: 'a writer that lost its lease cannot append, whatever it still holds',
    check: async (make) => {
      const engine = await make()
      const first = await begin(engine)
      const all = await appendAll(first.log, [line(5)])
      await engine.revoke(first.session)
      await expectFenced(first.stores, first.session, first.log, first.lease, all)
      const next = await takeOver(await engine.process(), first.session)
      const more = await appendAll(next.log, [line(6)], all.length)
      await expectFenced(
        first.stores,
        first.session,
        first.log,
        first.lease,
        Buffer.concat([all, more]),
      )
      await close(next)
      await first.log.close()
    },
  },
  {
    title: 'of two processes, the second writes only after the first has released the lease',
    check: async (make) => {
      const engine = await make()
      const first = await begin(engine)
      const all = await appendAll(first.log, [line(5)])
      const second = await engine.process()
      expect(await second.leases.take(first.session)).toMatchObject({
        error: { kind: 'session_busy' },
      })
      await close(first)
      const next = await takeOver(second, first.session)
      const more = await appendAll(next.log, [line(6)], all.length)
      expect(await bytesIn(second, first.session)).toEqual(Buffer.concat([all, more]))
      await close(next)
    },
  },
  {
    title: 'does not acknowledge an append at a place that is not the end',
    check: async (make) => {
      const { stores, session, ...first } = await begin(await make())
      const all = await appendAll(first.log, [line(5)])
      await close(first)
      const next = await takeOver(stores, session)
      const failure = await next.log.append(line(7), all.length - 2)
      expect(failure?.stop).toBeDefined()
      await close(next)
    },
  },
  {
    title: 'reports each change to a follower, which misses and repeats nothing',
    check: withLog(async ({ log, stores, session }) => {
      let rang = 0
      const watching = await stores.logs.watch(session, () => (rang += 1))
      const reader = await opened(stores, session)
      let seen: Buffer = Buffer.alloc(0)
      let end = 0
      for (let n = 1; n <= 20; n++) {
        end += (await appendAll(log, [line(n * 13)], end)).length
        seen = Buffer.concat([seen, await readSpan(reader, seen.length, 1024 * 1024)])
      }
      expect(seen).toEqual(await bytesIn(stores, session))
      if (watching !== undefined) await expect.poll(() => rang).toBeGreaterThan(0)
      watching?.close()
      await reader.close()
    }),
  },
  {
    title: 'lists every Log and nothing else, also while Logs are deleted',
    check: async (make) => {
      const engine = await make()
      const logs = []
      for (let n = 0; n < 6; n++) {
        const one = await begin(engine)
        await appendAll(one.log, [line(5)])
        logs.push(one)
      }
      const [stores] = logs.map((one) => one.stores)
      if (stores === undefined) throw new Error('there are no stores')
      // A lease without a Log, and a head without one.
      const bare = ids.session()
      const lease = value(await stores.leases.take(bare))
      await stores.heads.write(bare, { seq: -1, hash: null, offset: 0 })
      expect([...(await stores.logs.list())].toSorted()).toEqual(
        logs.map(({ session }) => session).toSorted(),
      )
      const [gone, kept] = [logs.slice(0, 3), logs.slice(3)]
      const lists = gone.map(async (one) => {
        expect(await one.stores.logs.delete(one.session, one.lease)).toBe(true)
        return stores.logs.list()
      })
      for (const list of await Promise.all(lists))
        for (const { session } of kept) expect(list).toContain(session)
      expect([...(await stores.logs.list())].toSorted()).toEqual(
        kept.map(({ session }) => session).toSorted(),
      )
      await lease.release()
      for (const one of logs) await close(one)
    },
  },
  {
    title: 'an open Log can be read to its end after it was deleted, and says so',
    check: withLog(async ({ log, stores, session, lease }) => {
      const all = await appendAll(log, [line(5)])
      await log.cut(0, { seq: 0, bytes: all })
      const reader = await opened(stores, session)
      expect(await stores.logs.delete(session, lease)).toBe(true)
      expect((await reader.stat()).links).toBe(0)
      expect(await stores.logs.open(session)).toBeUndefined()
      expect(await log.pieces(0)).toEqual([])
      expect(await stores.logs.delete(session, lease)).toBe(false)
      await reader.close()
    }),
  },
  {
    title: 'keeps every piece that was cut, the same bytes once, and names them in order',
    check: withLog(async ({ log, stores, session }) => {
      let all = await appendAll(log, [line(50), line(60)])
      for (const size of [10, 20, 20]) {
        const bytes = all.subarray(all.length - size)
        all = all.subarray(0, all.length - size)
        await log.cut(all.length, { seq: 1, bytes })
        expect(await bytesIn(stores, session)).toEqual(all)
      }
      const sizes = (await log.pieces(1)).map(({ size }) => size)
      expect(sizes).toEqual([10, 20, 20].slice(0, sizes.length))
      expect(sizes.length).toBeGreaterThanOrEqual(2)
      expect(await log.pieces(2)).toEqual([])
      const raw: Buffer[] = []
      await stores.logs.each(async (_name, bytes) => {
        for await (const piece of bytes) raw.push(piece)
      })
      expect(Buffer.concat(raw).includes(all)).toBe(true)
    }),
  },
  {
    title: 'no text that is not an id of a Session reaches the store as one',
    check: async () => {
      for (const hostile of ['../x', 'ses_', 'ses_/../../x', `${ids.session()}\n`, '', 'order'])
        expect(SessionId.safeParse(hostile).success).toBe(false)
    },
  },
  {
    title: 'rolls a failed write back without acknowledging it, and the next one succeeds',
    check: async (make) => {
      const engine = await make()
      if (engine.faults === undefined) return
      const begun = await begin(engine)
      const all = await appendAll(begun.log, [line(5)])
      engine.faults.fill()
      for (let n = 0; n < 5; n++) {
        const failure = await begun.log.append(line(900), all.length)
        expect(failure?.error.kind).toBe('storage_failed')
        expect(failure?.stop).toBeUndefined()
        expect(await bytesIn(begun.stores, begun.session)).toEqual(all)
      }
      engine.faults.free()
      const more = await appendAll(begun.log, [line(6)], all.length)
      expect(await bytesIn(begun.stores, begun.session)).toEqual(Buffer.concat([all, more]))
      await close(begun)
    },
  },
  {
    title: 'after a failed sync the writer must stop, and nothing of the batch is acknowledged',
    check: async (make) => {
      const engine = await make()
      if (engine.faults === undefined) return
      const begun = await begin(engine)
      const all = await appendAll(begun.log, [line(5)])
      engine.faults.failSync()
      expect((await begun.log.append(line(900), all.length))?.stop).toBeDefined()
      engine.faults.free()
      expect((await bytesIn(begun.stores, begun.session)).subarray(0, all.length)).toEqual(all)
      expect(await begun.log.append(line(6), all.length)).toMatchObject({ stop: {} })
      await close(begun)
    },
  },
  {
    title: 'after a power cut or a kill at any step, everything acknowledged is there, in order',
    check: (make) => atEveryStep(make, judgeAppends),
  },
  {
    title: 'after a power cut at any step of a repair, the bytes are in the Log or kept beside it',
    check: (make) => atEveryStep(make, judgeCut),
  },
]

interface Begun {
  readonly stores: LogStores
  readonly session: SessionId
  readonly lease: Lease
  readonly log: WritableLog
}

function withLog(work: (begun: Begun) => Promise<void>): ContractCheck['check'] {
  return async (make) => {
    const begun = await begin(await make())
    await work(begun)
    await close(begun)
  }
}

async function begin({ process }: Pick<EngineUnderTest, 'process'>): Promise<Begun> {
  const stores = await process()
  const session = ids.session()
  const lease = value(await stores.leases.take(session))
  return { stores, session, lease, log: await stores.logs.create(session, lease) }
}

async function takeOver(stores: LogStores, session: SessionId): Promise<Begun> {
  const lease = value(await stores.leases.take(session))
  const log = await stores.logs.openToWrite(session)
  if (log === undefined) throw new Error('the Log is gone')
  return { stores, session, lease, log: log.under(lease) }
}

async function close({ log, lease }: Pick<Begun, 'log' | 'lease'>): Promise<void> {
  await log.close()
  await lease.release()
}

/** A line of about this length, which no other has. */
function line(length: number): Buffer {
  return Buffer.from(`${ids.event()}${'é'.repeat(length)}\n`)
}

async function appendAll(log: WritableLog, batches: readonly Buffer[], from = 0): Promise<Buffer> {
  let at = from
  for (const batch of batches) {
    expect(await log.append(batch, at)).toBeUndefined()
    at += batch.length
  }
  return Buffer.concat(batches)
}

async function opened({ logs }: Pick<LogStores, 'logs'>, session: SessionId): Promise<ReadableLog> {
  const log = await logs.open(session)
  if (log === undefined) throw new Error('the Log is not there')
  return log
}

async function textOf(log: ReadableLog): Promise<Buffer> {
  return readSpan(log, 0, (await log.stat()).size)
}

async function bytesIn(stores: LogStores, session: SessionId): Promise<Buffer> {
  const log = await opened(stores, session)
  const bytes = await textOf(log)
  await log.close()
  return bytes
}

/** Nothing changes, and nothing is acknowledged. */
async function expectFenced(
  stores: LogStores,
  session: SessionId,
  log: WritableLog,
  lease: Lease,
  all: Buffer,
): Promise<void> {
  const failure = await log.append(line(9), all.length).catch((error: unknown) => error)
  expect(failure).toBeDefined()
  const refused: readonly (() => Promise<unknown>)[] = [
    () => log.settle(0, async () => {}),
    () => log.cut(0, { seq: 0, bytes: all }),
    () => stores.logs.delete(session, lease),
    () => stores.logs.create(ids.session(), lease),
  ]
  for (const one of refused)
    expect(await thrown(one())).toEqual({ name: 'FileFailure', code: 'LEASE_LOST' })
  expect(await bytesIn(stores, session)).toEqual(all)
}

const judgeAppends: Judge = async (engine) => {
  const session = ids.session()
  const batches = [line(20), line(900), line(40), line(2000)]
  let acknowledged = 0
  await untilCut(async () => {
    const stores = await engine.process()
    const lease = value(await stores.leases.take(session))
    const log = await stores.logs.create(session, lease)
    for (const batch of batches) {
      expect(await log.append(batch, acknowledged)).toBeUndefined()
      acknowledged += batch.length
    }
    await close({ log, lease })
  })
  return async (next) => {
    const stores = await next.process()
    if (acknowledged === 0) return
    const all = Buffer.concat(batches)
    const found = await bytesIn(stores, session)
    expect(found.subarray(0, acknowledged)).toEqual(all.subarray(0, acknowledged))
    const { log, lease } = await takeOver(stores, session)
    await log.settle(acknowledged, (visit) => visit(found, 0))
    if (found.length > acknowledged)
      await log.cut(acknowledged, { seq: 1, bytes: found.subarray(acknowledged) })
    const last = line(3)
    expect(await log.append(last, acknowledged)).toBeUndefined()
    expect(await bytesIn(stores, session)).toEqual(
      Buffer.concat([all.subarray(0, acknowledged), last]),
    )
    await close({ log, lease })
  }
}

const judgeCut: Judge = async (engine) => {
  const session = ids.session()
  const [kept, torn] = [line(20), line(1500)]
  let isDurable = false
  await untilCut(async () => {
    const stores = await engine.process()
    const lease = value(await stores.leases.take(session))
    const log = await stores.logs.create(session, lease)
    await appendAll(log, [kept, torn])
    isDurable = true
    await log.cut(kept.length, { seq: 1, bytes: torn })
    await close({ log, lease })
  })
  return async (next) => {
    if (!isDurable) return
    const stores = await next.process()
    const found = await bytesIn(stores, session)
    expect(found.subarray(0, kept.length)).toEqual(kept)
    const names = await piecesWith(stores.logs, torn)
    expect(found.equals(Buffer.concat([kept, torn])) || names.length === 1).toBe(true)
  }
}

async function piecesWith(logs: LogStore, bytes: Buffer): Promise<string[]> {
  const names: string[] = []
  await logs.each(async (name, raw) => {
    const all: Buffer[] = []
    for await (const piece of raw) all.push(piece)
    if (Buffer.concat(all).equals(bytes)) names.push(name)
  })
  return names
}
