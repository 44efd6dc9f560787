import { expect } from 'vitest'
import { sha256 } from '../../../src/encoding/hash.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { systemIds } from '../../../src/host/ids.ts'
import type { IndexRecord } from '../../../src/log/index-store.ts'
import { atEveryStep, untilCut } from './at-every-step.ts'
import type { ContractCheck } from './stores-under-test.ts'

const ids = systemIds(systemClock)

const record = (seq: number): IndexRecord => ({
  fold: 'text-1',
  through_seq: seq,
  through_offset: 10 + seq,
  through_hash: sha256(`${seq}`),
  state: JSON.stringify({ text: 'é\n'.repeat(300), seq }),
})

/** What every `IndexStore` must do. */
export const INDEX_STORE_CONTRACT: readonly ContractCheck[] = [
  {
    title: 'returns the last record of each Session to every process, unchanged',
    check: async (make) => {
      const { process } = await make()
      const [here, there] = [(await process()).indexes, (await process()).indexes]
      const [one, two] = [ids.session(), ids.session()]
      await here.write(one, record(1))
      await here.write(one, record(2))
      await here.write(two, record(3))
      expect(await there.read(one)).toEqual(record(2))
      expect(await there.read(two)).toEqual(record(3))
      expect(await there.read(ids.session())).toBeUndefined()
      await here.remove(one)
      await here.remove(one)
      expect(await there.read(one)).toBeUndefined()
      expect(await there.read(two)).toEqual(record(3))
    },
  },
  {
    title: 'a record that was changed outside is absent',
    check: async (make) => {
      const engine = await make()
      const { indexes } = await engine.process()
      const session = ids.session()
      await indexes.write(session, record(1))
      if (engine.damage === undefined) return
      await engine.damage.index(session)
      expect(await indexes.read(session)).toBeUndefined()
    },
  },
  {
    title: 'after a power cut or a kill at any step, a record is one that was written, or absent',
    check: (make) =>
      atEveryStep(make, async (engine) => {
        const session = ids.session()
        await untilCut(async () => {
          const { indexes } = await engine.process()
          for (let seq = 0; seq < 3; seq++) await indexes.write(session, record(seq))
        })
        return async (next) => {
          const found = await (await next.process()).indexes.read(session)
          if (found !== undefined) expect(found).toEqual(record(found.through_seq))
        }
      }),
  },
]
