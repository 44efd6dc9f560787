import { expect } from 'vitest'
import { sha256 } from '../../../src/encoding/hash.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { FileFailure } from '../../../src/host/files/files.ts'
import { systemIds } from '../../../src/host/ids.ts'
import type { IndexRecord } from '../../../src/log/index-store.ts'
import { atEveryStep, untilCut } from './at-every-step.ts'
import { need, type ContractCheck } from './stores-under-test.ts'

const ids = systemIds(systemClock)

const record = (seq: number): IndexRecord => ({
  fold: 'text-1',
  through_seq: seq,
  through_offset: 10 + seq,
  through_hash: sha256(`${seq}`),
  state: JSON.stringify({ text: 'é\n'.repeat(300), seq }),
})

/** What every `IndexStore` must do. Each check names a promise of its comments. */
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
    title: 'a record that was changed, cut or lengthened outside is absent, byte by byte',
    needs: ['outside'],
    check: async (make) => {
      const engine = await make()
      const { indexes } = await engine.process()
      const session = ids.session()
      const changed = async (change: (bytes: Buffer) => Buffer) => {
        await indexes.write(session, record(1))
        await need(engine.outside).index(session, change)
        expect(await indexes.read(session)).toBeUndefined()
      }
      const { length } = JSON.stringify(record(1))
      for (let at = 0; at < length; at += 37)
        await changed((bytes) => {
          const copy = Buffer.from(bytes)
          copy[at] = (copy[at] ?? 0) ^ 1
          return copy
        })
      await changed((bytes) => bytes.subarray(0, bytes.length - 20))
      await changed((bytes) => Buffer.concat([bytes, Buffer.from('x\n')]))
      await changed(() => Buffer.alloc(0))
      // Beyond the size that is worth reading.
      await changed((bytes) => Buffer.concat([bytes, Buffer.alloc(17 * 1024 * 1024, ' ')]))
    },
  },
  {
    title: 'the record of another Session, or of another home, is absent',
    needs: ['outside'],
    check: async (make) => {
      const [engine, elsewhere] = [await make(), await make()]
      const { indexes } = await engine.process()
      const [session, other] = [ids.session(), ids.session()]
      let theirs: Buffer = Buffer.alloc(0)
      const take = (bytes: Buffer) => (theirs = bytes)
      await indexes.write(session, record(1))
      await indexes.write(other, record(2))
      await need(engine.outside).index(other, take)
      await need(engine.outside).index(session, () => theirs)
      expect(await indexes.read(session)).toBeUndefined()
      await (await elsewhere.process()).indexes.write(session, record(3))
      await need(elsewhere.outside).index(session, take)
      await need(engine.outside).index(session, () => theirs)
      expect(await indexes.read(session)).toBeUndefined()
      expect(await indexes.read(other)).toEqual(record(2))
    },
  },
  {
    title: 'reading never throws, whatever is in the place of a record',
    needs: ['outside'],
    check: async (make) => {
      const engine = await make()
      const { indexes } = await engine.process()
      const session = ids.session()
      await need(engine.outside).obstruct('index', session)
      expect(await indexes.read(session)).toBeUndefined()
    },
  },
  {
    title:
      'a record that does not fit is a failure of the storage, and what is there is no wrong one',
    needs: ['faults'],
    check: async (make) => {
      const engine = await make()
      const { indexes } = await engine.process()
      const session = ids.session()
      await indexes.write(session, record(1))
      need(engine.faults).fill()
      await expect(indexes.write(session, record(2))).rejects.toBeInstanceOf(FileFailure)
      need(engine.faults).free()
      expect([undefined, 1]).toContain((await indexes.read(session))?.through_seq)
    },
  },
  {
    title: 'after a power cut or a kill at any step, a record is one that was written, or absent',
    needs: ['crash'],
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
  {
    title: 'a record that was removed stays removed after a power cut at any step',
    needs: ['crash'],
    check: (make) =>
      atEveryStep(make, async (engine) => {
        const session = ids.session()
        let isRemoved = false
        await untilCut(async () => {
          const { indexes } = await engine.process()
          await indexes.write(session, record(1))
          await indexes.remove(session)
          isRemoved = true
        })
        return async (next) => {
          const found = await (await next.process()).indexes.read(session)
          expect(found).toEqual(isRemoved || found === undefined ? undefined : record(1))
        }
      }),
  },
]
