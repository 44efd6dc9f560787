import { expect } from 'vitest'
import type { Fence, Lease } from '../../../src/log/lease-store.ts'
import type { WritableLog } from '../../../src/log/log-store.ts'
import { thrown } from '../../support/host/thrown.ts'
import type { ContractCheck } from './stores-under-test.ts'
import {
  appendAll,
  begin,
  bytesIn,
  close,
  ids,
  line,
  takeOver,
  withLog,
  type Begun,
} from './log-scene.ts'

export const FENCE_CASES: readonly ContractCheck[] = [
  {
    title: 'a writer that released its lease cannot append, settle, cut, create, hide or delete',
    check: withLog(async (begun) => {
      const all = await appendAll(begun.log, [line(5)])
      await begun.lease.release()
      await expectFenced(begun, begun.log, all)
    }),
  },
  {
    title: 'a writer that lost its lease cannot append, whatever it still holds',
    check: async (make) => {
      const engine = await make()
      const first = await begin(engine)
      const all = await appendAll(first.log, [line(5)])
      const unfenced = await first.stores.logs.openToWrite(first.session)
      const unused = unfenced?.under(first.lease)
      await engine.revoke(first.session)
      if (unused === undefined) throw new Error('the Log is gone')
      const expectAllFenced = async (bytes: Buffer) => {
        const late = await openedUnder(first)
        for (const log of [first.log, unused, late]) await expectFenced(first, log, bytes)
        await late.close()
      }
      await expectAllFenced(all)
      const next = await takeOver(engine, first.session)
      const more = Buffer.concat([all, await appendAll(next.log, [line(6)], all.length)])
      await expectAllFenced(more)
      await appendAll(next.log, [line(7)], more.length)
      await close(next)
      await unused.close()
      await close(first)
    },
  },
  {
    title: 'a loss that the check before a write misses is found before the write is acknowledged',
    check: async (make) => {
      const engine = await make()
      const first = await begin(engine)
      const all = await appendAll(first.log, [line(5)])
      await first.log.close()
      let isHeld = true
      const late: Fence = {
        epoch: first.lease.epoch,
        mayHold: () => true,
        holds: async () => isHeld && first.lease.holds(),
      }
      const log = await openedUnder({ ...first, lease: late })
      const more = await appendAll(log, [line(6)], all.length)
      isHeld = false
      const at = all.length + more.length
      expect(await log.append(line(7), at)).toMatchObject({ stop: {} })
      isHeld = true
      expect(await log.append(line(8), at)).toMatchObject({ stop: {} })
      await log.close()
      await first.lease.release()
    },
  },
  {
    title: 'of two processes, the second writes only after the first has released the lease',
    check: async (make) => {
      const engine = await make()
      const first = await begin(engine)
      const all = await appendAll(first.log, [line(5)])
      const second = await engine.process()
      const busy = { error: { kind: 'session_busy' } }
      expect(await second.leases.take(first.session)).toMatchObject(busy)
      await close(first)
      const next = await takeOver(engine, first.session)
      const more = await appendAll(next.log, [line(6)], all.length)
      expect(await bytesIn(second, first.session)).toEqual(Buffer.concat([all, more]))
      await close(next)
    },
  },
  {
    title: 'does not acknowledge an append at a place that is not the end, and then none at all',
    check: async (make) => {
      const engine = await make()
      for (const off of [-2, 3]) {
        const first = await begin(engine)
        const all = await appendAll(first.log, [line(5)])
        await close(first)
        const next = await takeOver(engine, first.session)
        expect(await next.log.append(line(7), all.length + off)).toMatchObject({ stop: {} })
        expect(await next.log.append(line(7), all.length)).toMatchObject({ stop: {} })
        expect((await bytesIn(next.stores, next.session)).subarray(0, all.length)).toEqual(all)
        await close(next)
        const same = await takeOver(engine, first.session)
        const { size } = await same.log.stat()
        const more = await appendAll(same.log, [line(5)], size)
        expect(await same.log.append(line(7), size + more.length + off)).toMatchObject({ stop: {} })
        await close(same)
      }
    },
  },
  {
    title: 'real processes take turns at one Log, and one that is killed leaves it to the next',
    needs: ['program'],
    check: async (make) => {
      const engine = await make()
      if (engine.program === undefined) throw new Error('there is no program')
      const [one, two] = [engine.program(), engine.program()]
      const stores = await engine.process()
      const session = ids.session()
      const both = await Promise.all([one, two].map((p) => p.ask({ act: 'take', session })))
      const outcomes = both.map(({ outcome }) => outcome)
      expect(outcomes.toSorted()).toEqual(['done', 'session_busy'])
      const [first, second] = outcomes[0] === 'done' ? [one, two] : [two, one]
      expect((await stores.leases.writerOf(session))?.pid).toBe(first.pid)
      expect(await first.ask({ act: 'append', session, lines: 50 })).toEqual({
        outcome: 'done',
        size: 500,
      })
      expect(await bytesIn(stores, session)).toEqual(lines(50))
      await first.kill()
      const taken = await second.ask({ act: 'take', session })
      expect(taken).toEqual({ outcome: 'done', size: 500, abandonedBy: first.pid })
      expect(await stores.leases.take(session)).toMatchObject({ error: { kind: 'session_busy' } })
      await second.ask({ act: 'append', session, lines: 10 })
      await second.ask({ act: 'release', session })
      await second.end()
      const next = await takeOver(engine, session)
      expect(next.lease.abandonedBy).toBeUndefined()
      expect(await bytesIn(next.stores, session)).toEqual(lines(60))
      await close(next)
    },
  },
  {
    title: 'a real process that lost its lease cannot append beside the one that got it',
    needs: ['program'],
    check: async (make) => {
      const engine = await make()
      if (engine.program === undefined) throw new Error('there is no program')
      const old = engine.program()
      const session = ids.session()
      await old.ask({ act: 'take', session })
      await old.ask({ act: 'append', session, lines: 3 })
      await engine.revoke(session)
      const next = await takeOver(engine, session)
      await appendAll(next.log, [Buffer.from('000000030\n')], 30)
      const refused = await old.ask({ act: 'append', session, lines: 1 })
      expect(refused).toEqual({ outcome: 'storage_failed', size: 40 })
      expect(await bytesIn(next.stores, session)).toEqual(lines(4))
      await appendAll(next.log, [Buffer.from('000000040\n')], 40)
      expect(await bytesIn(next.stores, session)).toEqual(lines(5))
      await old.end()
      await close(next)
    },
  },
]

/** What the real process appends. */
function lines(count: number): Buffer {
  const all = Array.from({ length: count }, (_, n) => `${String(n * 10).padStart(9, '0')}\n`)
  return Buffer.from(all.join(''))
}

async function openedUnder({
  stores,
  session,
  lease,
}: Pick<Begun, 'stores' | 'session'> & { readonly lease: Fence }): Promise<WritableLog> {
  const log = await stores.logs.openToWrite(session)
  if (log === undefined) throw new Error('the Log is gone')
  return log.under(lease)
}

/** Nothing changes, and nothing is acknowledged. */
async function expectFenced(
  { stores, session, lease }: { readonly lease: Lease } & Pick<Begun, 'stores' | 'session'>,
  log: WritableLog,
  all: Buffer,
): Promise<void> {
  expect(await log.append(line(9), all.length)).toMatchObject({ stop: {} })
  const refused: readonly (() => Promise<unknown>)[] = [
    () => log.settle(0, async () => {}),
    () => log.cut(0, { seq: 0, bytes: all }),
    () => stores.logs.delete(session, lease),
    () => stores.logs.hide(session, lease),
    () => stores.logs.create(ids.session(), lease),
  ]
  for (const one of refused)
    expect(await thrown(one())).toEqual({ name: 'FileFailure', code: 'LEASE_LOST' })
  expect(await bytesIn(stores, session)).toEqual(all)
  expect(await stores.logs.list()).toEqual([session])
}
