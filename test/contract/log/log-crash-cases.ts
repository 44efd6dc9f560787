import { expect } from 'vitest'
import type { ReadableLog } from '../../../src/log/log-store.ts'
import type { LogStores } from '../../../src/log/place.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import { value } from '../../support/log/story.ts'
import { atEveryStep, untilCut, type Judge } from './at-every-step.ts'
import { need, type ContractCheck, type EngineUnderTest } from './stores-under-test.ts'
import {
  appendAll,
  begin,
  bytesIn,
  close,
  ids,
  line,
  opened,
  rawPieces,
  takeOver,
  textOf,
} from './log-scene.ts'

export const CRASH_CASES: readonly ContractCheck[] = [
  {
    title: 'rolls a failed or short write back without acknowledging it, and the next one succeeds',
    needs: ['faults'],
    check: async (make) => {
      const engine = await make()
      const faults = need(engine.faults)
      const begun = await begin(engine)
      const all = await appendAll(begun.log, [line(5)])
      faults.fill()
      for (let n = 0; n < 5; n++) {
        const failure = await begun.log.append(line(900), all.length)
        expect(failure?.error.kind).toBe('storage_failed')
        expect(failure?.stop).toBeUndefined()
        expect(await bytesIn(begun.stores, begun.session)).toEqual(all)
      }
      faults.free()
      const more = await appendAll(begun.log, [line(6)], all.length)
      expect(await bytesIn(begun.stores, begun.session)).toEqual(Buffer.concat([all, more]))
      await close(begun)
    },
  },
  {
    title: 'after a failed sync the writer must stop, and nothing of the batch is acknowledged',
    needs: ['faults'],
    check: async (make) => {
      const engine = await make()
      const faults = need(engine.faults)
      const begun = await begin(engine)
      const all = await appendAll(begun.log, [line(5)])
      faults.failSync()
      expect(await begun.log.append(line(900), all.length)).toMatchObject({ stop: {} })
      faults.free()
      expect((await bytesIn(begun.stores, begun.session)).subarray(0, all.length)).toEqual(all)
      expect(await begun.log.append(line(6), all.length)).toMatchObject({ stop: {} })
      await close(begun)
    },
  },
  {
    title:
      'after a power cut or a kill at any step, everything acknowledged is there, in order, with its Log',
    needs: ['crash'],
    check: (make) => atEveryStep(make, judgeAppends),
  },
  {
    title:
      'after a power cut at any step of a cut, the bytes are in the Log or kept beside it, and after it both are as cut',
    needs: ['crash'],
    check: (make) => atEveryStep(make, judgeCut),
  },
  {
    title:
      'after a power cut at any step of a deletion, a Log has all its bytes and pieces or is gone, and stays gone',
    needs: ['crash'],
    check: (make) => atEveryStep(make, judgeDelete),
  },
  {
    title:
      'what a killed writer left, also after a failed sync, survives a power cut once it is settled',
    needs: ['crash', 'faults'],
    check: async (make) => {
      let settled = 0
      await endedWriters(make, async (next, session, found) => {
        const { log } = await takeOver(next, session)
        const kept = await log.settle(0, async (visit) => {
          await visit(found, 0)
          return 'the result of the work'
        })
        expect(kept).toBe('the result of the work')
        expect(await textOf(log)).toEqual(found)
        const later = await need(next.crash).afterCrash().process()
        expect((await bytesIn(later, session)).equals(found)).toBe(true)
        settled += 1
      })
      expect(settled).toBeGreaterThan(5)
    },
  },
  {
    title: 'bytes before the place from which it settles are not written again',
    needs: ['crash'],
    check: async (make) => {
      const engine = await make()
      const { log, lease, session, stores } = await begin(engine)
      const all = await appendAll(log, [line(30), line(40)])
      await log.settle(50, (visit) => visit(Buffer.concat([Buffer.alloc(50), all.subarray(50)]), 0))
      expect(await bytesIn(stores, session)).toEqual(all)
      await close({ log, lease })
    },
  },
  {
    title:
      'what a reader saw of a Log survives a power cut once it has synced it, however it was opened',
    needs: ['crash'],
    check: async (make) => {
      for (const openedBy of ['open', 'openToWrite', 'under'] as const) {
        let synced = 0
        await atEveryStep(make, async (engine) => {
          const session = ids.session()
          let acknowledged = 0
          await untilCut(async () => {
            const { log } = await begin(engine, session)
            for (const batch of [line(20), line(900)]) {
              expect(await log.append(batch, acknowledged)).toBeUndefined()
              acknowledged += batch.length
            }
          })
          return async (next) => {
            if (acknowledged === 0) return
            const reader = await openedAs(openedBy, await next.process(), session)
            const found = await textOf(reader)
            await reader.sync()
            const later = await need(next.crash).afterCrash().process()
            expect(await bytesIn(later, session)).toEqual(found)
            synced += 1
          }
        })
        expect(synced).toBeGreaterThan(3)
      }
    },
  },
]

async function openedAs(
  how: 'open' | 'openToWrite' | 'under',
  { logs, leases }: LogStores,
  session: SessionId,
): Promise<ReadableLog> {
  if (how === 'open') return opened(logs, session)
  const log = need(await logs.openToWrite(session))
  return how === 'openToWrite' ? log : log.under(value(await leases.take(session)))
}

const judgeAppends: Judge = async (engine) => {
  const session = ids.session()
  const batches = [line(20), line(900), line(40), line(2000)]
  let acknowledged = 0
  await untilCut(async () => {
    const { log, lease } = await begin(engine, session)
    for (const batch of batches) {
      expect(await log.append(batch, acknowledged)).toBeUndefined()
      acknowledged += batch.length
    }
    await close({ log, lease })
  })
  return async (next) => {
    if (acknowledged === 0) return
    const all = Buffer.concat(batches)
    const { stores, log, lease } = await takeOver(next, session)
    expect(await stores.logs.list()).toEqual([session])
    const found = await bytesIn(stores, session)
    expect(found.subarray(0, acknowledged)).toEqual(all.subarray(0, acknowledged))
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
  let state: 'begun' | 'durable' | 'cut' = 'begun'
  await untilCut(async () => {
    const { log, lease } = await begin(engine, session)
    await appendAll(log, [kept, torn])
    state = 'durable'
    await log.cut(kept.length, { seq: 1, bytes: torn })
    state = 'cut'
    await close({ log, lease })
  })
  return async (next) => {
    if (state === 'begun') return
    const stores = await next.process()
    const found = await bytesIn(stores, session)
    expect(found.subarray(0, kept.length)).toEqual(kept)
    const all = [...(await rawPieces(stores.logs)).values()]
    const isKept = all.some((piece) => piece.equals(torn))
    if (state === 'cut') expect([found.length, isKept]).toEqual([kept.length, true])
    else expect(found.equals(Buffer.concat([kept, torn])) || isKept).toBe(true)
  }
}

const judgeDelete: Judge = async (engine) => {
  const session = ids.session()
  const all = line(1500)
  let state: 'begun' | 'durable' | 'deleted' = 'begun'
  await untilCut(async () => {
    const { log, lease, stores } = await begin(engine, session)
    await appendAll(log, [all])
    await log.cut(20, { seq: 1, bytes: all.subarray(20) })
    state = 'durable'
    expect(await stores.logs.delete(session, lease)).toBe(true)
    state = 'deleted'
    await close({ log, lease })
  })
  return async (next) => {
    if (state === 'begun') return
    const stores = await next.process()
    const log = await stores.logs.openToWrite(session)
    if (state === 'deleted') expect(log).toBeUndefined()
    if (log === undefined) return
    expect(await textOf(log)).toEqual(all.subarray(0, 20))
    const pieces = [...(await rawPieces(stores.logs)).values()]
    expect(pieces.some((piece) => piece.equals(all.subarray(20)))).toBe(true)
  }
}

/** Writers that are killed after their sync failed, or at any step; `judge` gets what the next one finds. */
async function endedWriters(
  make: (cutAt?: number, seed?: number) => Promise<EngineUnderTest>,
  judge: (
    next: EngineUnderTest,
    session: ReturnType<typeof ids.session>,
    found: Buffer,
  ) => Promise<void>,
): Promise<void> {
  for (const fails of [true, false]) {
    for (let at = 1; at < 16; at++) {
      const engine = await make(fails ? Infinity : at + 6, at)
      const session = ids.session()
      await untilCut(async () => {
        const { log } = await begin(engine, session)
        const all = await appendAll(log, [line(20)])
        if (fails) need(engine.faults).failSyncAndRollback()
        await log.append(line(1200), all.length)
      })
      const next = need(engine.crash).afterKill()
      const { logs } = await next.process()
      const log = await logs.open(session)
      const found = log && (await textOf(log))
      if (found !== undefined && found.length > 0) await judge(next, session, found)
    }
  }
}
