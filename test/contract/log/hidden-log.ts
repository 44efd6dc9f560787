import { expect } from 'vitest'
import { readSpan } from '../../../src/host/files/files.ts'
import { value } from '../../support/log/story.ts'
import { atEveryStep, untilCut, type Judge } from './at-every-step.ts'
import { appendAll, begin, bytesIn, close, ids, line, rawPieces, sorted } from './log-scene.ts'
import type { ContractCheck } from './stores-under-test.ts'

/** What every `LogStore` must do with the Log of a deleted Session that forks need. */
export const HIDDEN_CASES: readonly ContractCheck[] = [
  {
    title: 'a hidden Log is in no list and can be opened, until it is deleted, also after a crash',
    check: async (make) => {
      const engine = await make()
      const stores = await engine.process()
      const [session, other] = [ids.session(), ids.session()]
      for (const id of [session, other]) {
        const lease = value(await stores.leases.take(id))
        const log = await stores.logs.create(id, lease)
        expect(await log.append(Buffer.from(`${id}\n`), 0)).toBeUndefined()
        await log.close()
        await lease.release()
      }
      const lease = value(await stores.leases.take(session))
      await stores.logs.hide(session, lease)
      await stores.logs.hide(session, lease)
      await lease.release()
      await expect(stores.logs.hide(session, lease)).rejects.toThrow(session)
      const after = engine.crash === undefined ? stores : await engine.crash.afterKill().process()
      expect(await after.logs.list()).toEqual([other])
      expect(await after.logs.listHidden()).toEqual([session])
      expect([await after.logs.isHidden(session), await after.logs.isHidden(other)]).toEqual([
        true,
        false,
      ])
      const log = (await after.logs.open(session)) ?? expect.fail('it cannot be opened')
      expect((await readSpan(log, 0, 100)).toString()).toBe(`${session}\n`)
      await log.close()
      const named: string[] = []
      await after.logs.each(async (name) => void named.push(name))
      expect(named.some((name) => name.startsWith(session))).toBe(true)
      const last = value(await after.leases.take(session))
      expect(await after.logs.delete(session, last)).toBe(true)
      await last.release()
      expect(await after.logs.listHidden()).toEqual([])
      expect(await after.logs.open(session)).toBeUndefined()
    },
  },
  {
    title: 'hiding a Log deletes the pieces that repairs cut from it, and nothing of the Log',
    check: async (make) => {
      const begun = await begin(await make())
      const other = await begin(begun.engine)
      for (const { log } of [begun, other]) {
        const all = await appendAll(log, [line(50)])
        await log.cut(20, { seq: 1, bytes: all.subarray(20) })
      }
      const before = await bytesIn(begun.stores, begun.session)
      await begun.stores.logs.hide(begun.session, begun.lease)
      expect(await begun.log.pieces(1)).toEqual([])
      expect((await other.log.pieces(1)).length).toBe(1)
      expect(await bytesIn(begun.stores, begun.session)).toEqual(before)
      expect(sorted(await begun.stores.logs.list())).toEqual([other.session])
      await close(begun)
      await close(other)
    },
  },
  {
    title:
      'after a power cut at any step of hiding, a Log has all its bytes, and once hidden stays so',
    needs: ['crash'],
    check: (make) => atEveryStep(make, judgeHide),
  },
]

const judgeHide: Judge = async (engine) => {
  const session = ids.session()
  const all = line(1500)
  let state: 'begun' | 'durable' | 'hidden' = 'begun'
  await untilCut(async () => {
    const { log, lease, stores } = await begin(engine, session)
    await appendAll(log, [all])
    await log.cut(20, { seq: 1, bytes: all.subarray(20) })
    state = 'durable'
    await stores.logs.hide(session, lease)
    state = 'hidden'
    await close({ log, lease })
  })
  return async (next) => {
    if (state === 'begun') return
    const { logs } = await next.process()
    const isHidden = await logs.isHidden(session)
    if (state === 'hidden') expect(isHidden).toBe(true)
    expect(await logs.listHidden()).toEqual(isHidden ? [session] : [])
    expect(await logs.list()).toEqual(isHidden ? [] : [session])
    expect(await bytesIn({ logs }, session)).toEqual(all.subarray(0, 20))
    const pieces = [...(await rawPieces(logs)).values()]
    const isKept = pieces.some((piece) => piece.equals(all.subarray(20)))
    // The pieces go last.
    if (!isHidden) expect(isKept).toBe(true)
    if (state === 'hidden') expect(isKept).toBe(false)
  }
}
