import { expect } from 'vitest'
import { sha256 } from '../../../src/encoding/hash.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { HEAD_BEFORE_FIRST, type HeadRecord } from '../../../src/log/head-record.ts'
import { value } from '../../support/log/story.ts'
import { atEveryStep, untilCut } from './at-every-step.ts'
import type { ContractCheck } from './stores-under-test.ts'

const ids = systemIds(systemClock)

const head = (seq: number): HeadRecord => ({ seq, hash: sha256(`${seq}`), offset: 100 + seq })

/** What every `HeadStore` must do. */
export const HEAD_STORE_CONTRACT: readonly ContractCheck[] = [
  {
    title: 'returns the last head of each Session to every process, and none for a foreign one',
    check: async (make) => {
      const { process } = await make()
      const [here, there] = [(await process()).heads, (await process()).heads]
      const [one, two] = [ids.session(), ids.session()]
      await here.write(one, HEAD_BEFORE_FIRST)
      await here.write(one, head(3))
      await here.write(two, { ...head(4), checked_with: 'schemas' })
      expect(value(await there.read(one))).toEqual(head(3))
      expect(value(await there.read(two))).toEqual({ ...head(4), checked_with: 'schemas' })
      expect(value(await there.read(ids.session()))).toBeUndefined()
      expect([...(await there.list())].toSorted()).toEqual([one, two].toSorted())
    },
  },
  {
    title: 'removes a head, and accepts that there is none',
    check: async (make) => {
      const { heads } = await (await make()).process()
      const session = ids.session()
      await heads.write(session, head(1))
      await heads.remove(session)
      await heads.remove(session)
      await heads.settle()
      expect(value(await heads.read(session))).toBeUndefined()
      expect(await heads.list()).toEqual([])
    },
  },
  {
    title: 'reports a head that cannot be parsed as damage, never as absent',
    check: async (make) => {
      const engine = await make()
      const { heads } = await engine.process()
      const session = ids.session()
      await heads.write(session, head(1))
      if (engine.damage === undefined) return
      await engine.damage.head(session)
      expect(await heads.read(session)).toMatchObject({ error: { kind: 'log_damaged' } })
    },
  },
  {
    title: 'ranks Sessions by the order in which they were written, the last one highest',
    check: async (make) => {
      const { heads } = await (await make()).process()
      const [a, b, c] = [ids.session(), ids.session(), ids.session()]
      for (const session of [a, b, c, a]) await heads.noteWritten(session)
      const order = await heads.writtenOrder()
      const ranked = [...order].toSorted(([, x], [, y]) => x - y).map(([session]) => session)
      expect(ranked).toEqual([b, c, a])
    },
  },
  {
    title: 'after a power cut or a kill at any step, the acknowledged head or a later one is there',
    check: (make) =>
      atEveryStep(make, async (engine) => {
        const session = ids.session()
        let acknowledged = -1
        await untilCut(async () => {
          const { heads } = await engine.process()
          for (let seq = 0; seq < 3; seq++) {
            await heads.write(session, head(seq))
            acknowledged = seq
          }
        })
        return async (next) => {
          const found = value(await (await next.process()).heads.read(session))
          expect(found?.seq ?? -1).toBeGreaterThanOrEqual(acknowledged)
          if (found !== undefined) expect(found).toEqual(head(found.seq))
        }
      }),
  },
]
