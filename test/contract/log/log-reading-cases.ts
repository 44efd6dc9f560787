import { expect } from 'vitest'
import { FileFailure, readSpan } from '../../../src/host/files/files.ts'
import { thrown } from '../../support/host/thrown.ts'
import type { ContractCheck } from './stores-under-test.ts'
import {
  appendAll,
  begin,
  bytesIn,
  close,
  ids,
  line,
  opened,
  textOf,
  withLog,
} from './log-scene.ts'

export const READING_CASES: readonly ContractCheck[] = [
  {
    title:
      'returns the batches in the order of the appends, from any place, forwards and backwards',
    check: withLog(async ({ log, stores, session }) => {
      const all = await appendAll(log, [line(1), line(700), line(30)])
      const reader = await opened(stores.logs, session)
      expect(await textOf(reader)).toEqual(all)
      for (const from of [0, 1, 512, all.length - 1, all.length])
        expect(await readSpan(reader, from, all.length)).toEqual(all.subarray(from))
      const backwards: Buffer[] = []
      for (let end = all.length; end > 0; end -= 100)
        backwards.unshift(await readSpan(reader, Math.max(0, end - 100), Math.min(100, end)))
      expect(Buffer.concat(backwards)).toEqual(all)
      for (const beyond of [all.length, all.length + 1])
        expect(await reader.read(Buffer.alloc(9), beyond)).toBe(0)
      await reader.close()
    }),
  },
  {
    title: 'appends and returns a line of 1 MiB, and a batch of several',
    check: withLog(async ({ log, stores, session }) => {
      const mebibyte = Buffer.alloc(1024 * 1024, 'é\n')
      const all = await appendAll(log, [mebibyte, Buffer.concat([mebibyte, mebibyte])])
      expect((await bytesIn(stores, session)).equals(all)).toBe(true)
    }),
  },
  {
    title: 'a Log that exists is not created again, and one that does not is not opened',
    check: withLog(async ({ log, stores, session, lease }) => {
      const all = await appendAll(log, [line(5)])
      const exists = { name: 'FileFailure', code: 'EEXIST' }
      expect(await thrown(stores.logs.create(session, lease))).toEqual(exists)
      expect(await bytesIn(stores, session)).toEqual(all)
      const none = ids.session()
      expect(await stores.logs.open(none)).toBeUndefined()
      expect(await stores.logs.openToWrite(none)).toBeUndefined()
      expect(await stores.logs.list()).toEqual([session])
    }),
  },
  {
    title: 'opening a Log to read needs no lease, and opening it to write changes nothing',
    check: async (make) => {
      const engine = await make()
      const first = await begin(engine)
      const all = await appendAll(first.log, [line(5)])
      const other = await engine.process()
      // Beside its writer.
      expect(await bytesIn(other, first.session)).toEqual(all)
      const unfenced = await other.logs.openToWrite(first.session)
      expect(unfenced && (await textOf(unfenced))).toEqual(all)
      expect(await other.leases.beingWritten()).toEqual([first.session])
      await appendAll(first.log, [line(6)], all.length)
      await close(first)
      expect(await other.leases.beingWritten()).toEqual([])
      await unfenced?.close()
    },
  },
  {
    title: 'closing a Log that was opened to write closes it under its lease too, and the reverse',
    check: async (make) => {
      const engine = await make()
      const first = await begin(engine)
      await appendAll(first.log, [line(5)])
      await first.log.close()
      for (const closes of ['the outer one', 'the inner one']) {
        const outer = await first.stores.logs.openToWrite(first.session)
        if (outer === undefined) throw new Error('the Log is gone')
        const inner = outer.under(first.lease)
        await (closes === 'the outer one' ? outer : inner).close()
        for (const one of [outer, inner])
          await expect(one.read(Buffer.alloc(9), 0)).rejects.toThrow()
      }
      await first.lease.release()
    },
  },
  {
    title: 'the size of a Log never shrinks below what was acknowledged',
    check: withLog(async ({ log, stores, session, engine }) => {
      const reader = await opened(stores.logs, session)
      let acknowledged = 0
      for (const size of [3, 2000, 40, 1]) {
        const batch = line(size)
        const appending = log.append(batch, acknowledged)
        expect((await reader.stat()).size).toBeGreaterThanOrEqual(acknowledged)
        expect(await appending).toBeUndefined()
        acknowledged += batch.length
        engine.faults?.fill()
        if (engine.faults !== undefined) await log.append(line(900), acknowledged)
        engine.faults?.free()
        expect(await reader.stat()).toMatchObject({ size: acknowledged, links: 1 })
      }
      await reader.close()
    }),
  },
  {
    title: 'a follower that reads when a change is reported misses and repeats nothing',
    check: withLog(async ({ log, stores, session }) => {
      const reader = await opened(stores.logs, session)
      let ring = () => {}
      let changes = 0
      const watching = await stores.logs.watch(session, () => {
        changes += 1
        ring()
      })
      if (watching === undefined) throw new Error('this engine reports no changes')
      const seen: Buffer[] = []
      let read = 0
      let end = 0
      for (let n = 1; n <= 20; n++) {
        const before = changes
        const reported = new Promise<void>((resolve) => {
          ring = resolve
        })
        end += (await appendAll(log, [line(n * 13)], end)).length
        if (changes === before) await reported
        const piece = await readSpan(reader, read, 1024 * 1024)
        seen.push(piece)
        read += piece.length
      }
      expect(Buffer.concat(seen)).toEqual(await bytesIn(stores, session))
      expect(read).toBe(end)
      watching.close()
      await reader.close()
    }),
  },
  {
    title: 'a follower is told nothing after it closed, and another one still is',
    check: withLog(async ({ log, stores, session }) => {
      let closed = 0
      let ring = () => {}
      const reported = new Promise<void>((resolve) => void (ring = resolve))
      const first = await stores.logs.watch(session, () => (closed += 1))
      const second = await stores.logs.watch(session, () => ring())
      first?.close()
      const before = closed
      await appendAll(log, [line(5)])
      await reported
      expect(closed).toBe(before)
      second?.close()
    }),
  },
  {
    title: 'changes of a Log that does not exist cannot be reported',
    check: async (make) => {
      const { logs } = await (await make()).process()
      expect(await logs.watch(ids.session(), () => {})).toBeUndefined()
      expect(await logs.list()).toEqual([])
    },
  },
  {
    title: 'an open Log can be read to its end after it was deleted, and says that it was',
    check: withLog(async ({ log, stores, session, lease }) => {
      const all = await appendAll(log, [line(5), line(2000)])
      const reader = await opened(stores.logs, session)
      const first = await readSpan(reader, 0, 7)
      expect(await stores.logs.delete(session, lease)).toBe(true)
      expect(await reader.stat()).toMatchObject({ size: all.length, links: 0 })
      expect(Buffer.concat([first, await readSpan(reader, 7, all.length)])).toEqual(all)
      await reader.close()
    }),
  },
  {
    title: 'what a full disk refuses is a failure of the storage, never another error',
    needs: ['faults'],
    check: async (make) => {
      const engine = await make()
      const { stores, session, log, lease } = await begin(engine)
      const all = await appendAll(log, [line(900)])
      engine.faults?.fill()
      const piece = { seq: 1, bytes: all.subarray(40) }
      await expect(log.cut(40, piece)).rejects.toBeInstanceOf(FileFailure)
      engine.faults?.free()
      expect(await bytesIn(stores, session)).toEqual(all)
      await close({ log, lease })
    },
  },
]
