import { expect } from 'vitest'
import { sha256 } from '../../../src/encoding/hash.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { FileFailure } from '../../../src/host/files/files.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { HEAD_BEFORE_FIRST, type HeadRecord } from '../../../src/log/head-record.ts'
import { value } from '../../support/log/story.ts'
import { atEveryStep, untilCut } from './at-every-step.ts'
import { need, type ContractCheck } from './stores-under-test.ts'

const ids = systemIds(systemClock)

const head = (seq: number): HeadRecord => ({ seq, hash: sha256(`${seq}`), offset: 100 + seq })

/** What every `HeadStore` must do. Each check names a promise of its comments. */
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
      expect(there.label).not.toBe('')
    },
  },
  {
    title: 'lists heads only, although notes and indexes are stored beside them',
    check: async (make) => {
      const { heads, indexes } = await (await make()).process()
      const session = ids.session()
      await heads.noteWritten(ids.session())
      const through = { through_seq: 1, through_offset: 9, through_hash: sha256('x') }
      await indexes.write(ids.session(), { fold: 'one', ...through, state: '{}' })
      expect(await heads.list()).toEqual([])
      await heads.write(session, head(1))
      expect(await heads.list()).toEqual([session])
    },
  },
  {
    title: 'removes a head, and accepts that there is none',
    check: async (make) => {
      const { heads } = await (await make()).process()
      const [session, other] = [ids.session(), ids.session()]
      await heads.write(session, head(1))
      await heads.write(other, head(2))
      await heads.remove(session)
      await heads.remove(session)
      await heads.settle()
      expect(value(await heads.read(session))).toBeUndefined()
      expect(await heads.list()).toEqual([other])
    },
  },
  {
    title: 'a removal that was settled survives a power cut at any step, and no other head is lost',
    needs: ['crash'],
    check: (make) =>
      atEveryStep(make, async (engine) => {
        const [session, other] = [ids.session(), ids.session()]
        let state: 'begun' | 'written' | 'settled' = 'begun'
        await untilCut(async () => {
          const { heads } = await engine.process()
          await heads.write(session, head(1))
          await heads.write(other, head(2))
          state = 'written'
          await heads.remove(session)
          await heads.settle()
          state = 'settled'
        })
        return async (next) => {
          if (state === 'begun') return
          const { heads } = await next.process()
          expect(value(await heads.read(other))).toEqual(head(2))
          const found = value(await heads.read(session))
          if (state === 'settled' || found !== undefined)
            expect(found).toEqual(state === 'settled' ? undefined : head(1))
        }
      }),
  },
  {
    title: 'reports a head that cannot be parsed as damage, never as absent and never as another',
    needs: ['outside'],
    check: async (make) => {
      const engine = await make()
      const { heads } = await engine.process()
      const session = ids.session()
      const damages: readonly ((bytes: Buffer) => Buffer)[] = [
        () => Buffer.alloc(0),
        () => Buffer.from('{"seq":'),
        () => Buffer.alloc(5000, 'x'),
        (bytes) => bytes.subarray(0, bytes.length / 2),
        (bytes) => Buffer.concat([bytes, bytes]),
        (bytes) => Buffer.from(bytes.toString().replace('"seq":1', '"seq":"1"')),
        (bytes) => Buffer.from(bytes.toString().replace('"hash":"', '"hash":"x')),
      ]
      for (const damage of damages) {
        await heads.write(session, head(1))
        await need(engine.outside).head(session, damage)
        expect(await heads.read(session)).toMatchObject({ error: { kind: 'log_damaged' } })
      }
      await heads.write(session, head(2))
      expect(value(await heads.read(session))).toEqual(head(2))
    },
  },
  {
    title: 'something else in the place of a head is an error, never an absent head',
    needs: ['outside'],
    check: async (make) => {
      const engine = await make()
      const { heads } = await engine.process()
      const session = ids.session()
      await need(engine.outside).obstruct('head', session)
      expect(await heads.read(session)).toMatchObject({ error: { kind: 'not_regular_file' } })
    },
  },
  {
    title: 'ranks Sessions by the order in which they were written, the last one highest',
    check: async (make) => {
      const { process } = await make()
      const [here, there] = [(await process()).heads, (await process()).heads]
      const [a, b, c] = [ids.session(), ids.session(), ids.session()]
      expect([...(await there.writtenOrder())]).toEqual([])
      for (const session of [a, b, c, a]) await here.noteWritten(session)
      const order = await there.writtenOrder()
      const ranked = [...order].toSorted(([, x], [, y]) => x - y).map(([session]) => session)
      expect(ranked).toEqual([b, c, a])
    },
  },
  {
    title: 'the order never throws: what is damaged is skipped, and a full storage forgets a note',
    needs: ['outside', 'faults'],
    check: async (make) => {
      const engine = await make()
      const { heads } = await engine.process()
      const [a, b, c] = [ids.session(), ids.session(), ids.session()]
      await heads.noteWritten(a)
      await heads.noteWritten(b)
      await need(engine.outside).order((bytes) => Buffer.concat([Buffer.from('\0{]\nx\n'), bytes]))
      expect([...(await heads.writtenOrder()).keys()]).toEqual([a, b])
      need(engine.faults).fill()
      await heads.noteWritten(c)
      need(engine.faults).free()
      expect([...(await heads.writtenOrder()).keys()].slice(0, 2)).toEqual([a, b])
    },
  },
  {
    title: 'a head that does not fit is a failure of the storage, and the old one stays',
    needs: ['faults'],
    check: async (make) => {
      const engine = await make()
      const { heads } = await engine.process()
      const session = ids.session()
      await heads.write(session, head(1))
      need(engine.faults).fill()
      await expect(heads.write(session, head(2))).rejects.toBeInstanceOf(FileFailure)
      expect(value(await heads.read(session))).toEqual(head(1))
      need(engine.faults).free()
      await heads.write(session, head(3))
      expect(value(await heads.read(session))).toEqual(head(3))
    },
  },
  {
    title: 'after a power cut or a kill at any step, the acknowledged head or a later one is there',
    needs: ['crash'],
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
  {
    title: 'tidying removes what interrupted writes left before a time, and no head',
    needs: ['crash', 'outside'],
    check: async (make) => {
      let left = 0
      for (let cutAt = 3; cutAt < 16; cutAt++) {
        const engine = await make(cutAt, cutAt)
        const session = ids.session()
        let acknowledged = -1
        await untilCut(async () => {
          const { heads } = await engine.process()
          for (let seq = 0; seq < 3; seq++) {
            await heads.write(session, head(seq))
            acknowledged = seq
          }
        })
        const next = need(engine.crash).afterKill()
        const { heads } = await next.process()
        const leftovers = await need(next.outside).leftovers()
        left += leftovers
        const before = value(await heads.read(session))
        expect(before?.seq ?? -1).toBeGreaterThanOrEqual(acknowledged)
        await heads.tidy(0)
        expect(await need(next.outside).leftovers()).toBe(leftovers)
        await heads.tidy(Date.now() + 60_000)
        expect(await need(next.outside).leftovers()).toBe(0)
        expect(value(await heads.read(session))).toEqual(before)
      }
      expect(left).toBeGreaterThan(0)
    },
  },
]
