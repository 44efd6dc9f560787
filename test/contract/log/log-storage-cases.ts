import { expect } from 'vitest'
import * as z from 'zod'
import { FileFailure } from '../../../src/host/files/files.ts'
import { SessionId } from '../../../src/model/ids.ts'
import { value } from '../../support/log/story.ts'
import { atEveryStep, untilCut } from './at-every-step.ts'
import { need, type ContractCheck } from './stores-under-test.ts'
import {
  appendAll,
  begin,
  bytesIn,
  close,
  ids,
  line,
  rawPieces,
  sorted,
  withLog,
  type Begun,
} from './log-scene.ts'

/** Ids that lead elsewhere, or nowhere. */
const HOSTILE = [
  '',
  '.',
  '..',
  '../x',
  'ses_',
  'ses_/../../x',
  `../sessions/${ids.session()}`,
  `${ids.session()}\n`,
  `${ids.session()}\0`,
  `${ids.session()}/`,
  ids.session().toUpperCase(),
  'order',
  'index-key',
  '__proto__',
]

/** An id as it arrives where the type was not checked. */
function unchecked(text: string): SessionId {
  const id: SessionId = z.custom<SessionId>().parse(text)
  return id
}

export const STORAGE_CASES: readonly ContractCheck[] = [
  {
    title: 'lists every Log and nothing else, also while Logs are created and deleted',
    check: async (make) => {
      const engine = await make()
      const logs: Begun[] = []
      for (let n = 0; n < 6; n++) {
        const one = await begin(engine)
        await appendAll(one.log, [line(5)])
        logs.push(one)
      }
      const { logs: store, leases, heads } = await engine.process()
      // A lease without a Log, and a head without one.
      const bare = ids.session()
      const lease = value(await leases.take(bare))
      await heads.write(bare, { seq: -1, hash: null, offset: 0 })
      expect(sorted(await store.list())).toEqual(sorted(logs.map(({ session }) => session)))
      const [gone, kept] = [logs.slice(0, 3), logs.slice(3)]
      const changes = gone.flatMap((one) => [
        one.stores.logs.delete(one.session, one.lease).then((found) => expect(found).toBe(true)),
        begin(engine).then(async (fresh) => void kept.push(fresh)),
      ])
      const lists = changes.map(() => store.list())
      for (const list of await Promise.all(lists))
        for (const { session } of logs.slice(3)) expect(list).toContain(session)
      await Promise.all(changes)
      expect(sorted(await store.list())).toEqual(sorted(kept.map(({ session }) => session)))
      await lease.release()
      for (const one of new Set([...logs, ...kept])) await close(one)
    },
  },
  {
    title: 'deletes a Log with the pieces that repairs cut from it, once, and no other Log',
    check: async (make) => {
      const engine = await make()
      const [one, other] = [await begin(engine), await begin(engine)]
      for (const { log } of [one, other]) {
        const all = await appendAll(log, [line(50)])
        await log.cut(20, { seq: 1, bytes: all.subarray(20) })
      }
      const { logs } = await engine.process()
      expect(await logs.delete(one.session, one.lease)).toBe(true)
      expect(await logs.open(one.session)).toBeUndefined()
      expect(await one.log.pieces(1)).toEqual([])
      expect(await logs.delete(one.session, one.lease)).toBe(false)
      expect((await other.log.pieces(1)).length).toBe(1)
      expect(await logs.list()).toEqual([other.session])
      await close(one)
      await close(other)
    },
  },
  {
    title: 'keeps every piece that was cut, the same bytes once, and names them in order',
    check: withLog(async ({ log, stores, session }) => {
      let all = await appendAll(log, [line(50), line(60)])
      const cut: Buffer[] = []
      // The second and the third cut the same bytes.
      for (const size of [10, 20, 20]) {
        const bytes = all.subarray(all.length - size)
        all = all.subarray(0, all.length - size)
        await log.cut(all.length, { seq: 1, bytes })
        if (!cut.some((one) => one.equals(bytes))) cut.push(bytes)
        expect(await bytesIn(stores, session)).toEqual(all)
      }
      const pieces = await log.pieces(1)
      expect(pieces.map(({ size }) => size)).toEqual([10, 20])
      const raw = await rawPieces(stores.logs)
      expect(pieces.map(({ name }) => raw.get(name))).toEqual(cut)
      expect(await log.pieces(2)).toEqual([])
      expect(await log.pieces(0)).toEqual([])
    }),
  },
  {
    title:
      'raw bytes are those of every Log and every piece, by names that begin with its id, also of what appears meanwhile',
    check: async (make) => {
      const engine = await make()
      const one = await begin(engine)
      const all = await appendAll(one.log, [line(50)])
      await one.log.cut(20, { seq: 1, bytes: all.subarray(20) })
      const { logs } = await engine.process()
      expect(logs.label).not.toBe('')
      const found: { readonly name: string; readonly bytes: Buffer }[] = []
      let late: Begun | undefined
      const lines = line(80)
      const unread = await logs.each(async (name, raw) => {
        const pieces: Buffer[] = []
        for await (const piece of raw) pieces.push(piece)
        found.push({ name, bytes: Buffer.concat(pieces) })
        if (late !== undefined) return
        late = await begin(engine)
        await appendAll(late.log, [lines])
      })
      expect(unread).toBeUndefined()
      for (const [session, bytes] of [
        [one.session, all.subarray(0, 20)],
        [one.session, all.subarray(20)],
        [late?.session, lines],
      ] as const) {
        const named = found.filter((piece) => piece.bytes.includes(bytes))
        expect(named.length).toBeGreaterThan(0)
        for (const { name } of named) expect(name.slice(0, session?.length)).toBe(session)
      }
      await close(one)
      if (late !== undefined) await close(late)
    },
  },
  {
    title: 'raw bytes are read although Logs are deleted meanwhile',
    check: async (make) => {
      const engine = await make()
      const logs = [await begin(engine), await begin(engine), await begin(engine)]
      for (const { log } of logs) await appendAll(log, [line(9)])
      const { logs: store } = await engine.process()
      let isDeleted = false
      const unread = await store.each(async () => {
        if (isDeleted) return
        isDeleted = true
        for (const { session, lease } of logs) await store.delete(session, lease)
      })
      expect([unread, isDeleted]).toEqual([undefined, true])
      for (const one of logs) await close(one)
    },
  },
  {
    title:
      'no text that is not an id of a Session is listed as a Log, even if one is created by it',
    check: withLog(async ({ stores, session, lease, engine }) => {
      for (const hostile of HOSTILE) {
        expect(SessionId.safeParse(hostile).success).toBe(false)
        // Even without the check of the type, nothing outside is opened or created.
        const opening = stores.logs.open(unchecked(hostile)).catch((error: unknown) => error)
        const found = await opening
        expect(found === undefined || found instanceof Error).toBe(true)
        const created = await stores.logs.create(unchecked(hostile), lease).catch(() => undefined)
        await created?.close()
        expect(await stores.logs.list()).toEqual([session])
      }
      await engine.outside?.plantNames(session)
      expect(await stores.logs.list()).toEqual([session])
      expect(lease.mayHold()).toBe(true)
    }),
  },
  {
    title: 'tidying removes what interrupted repairs left, and nothing else',
    needs: ['crash', 'outside'],
    check: async (make) => {
      let left = 0
      await atEveryStep(make, async (engine) => {
        await untilCut(async () => {
          const { log } = await begin(engine)
          const all = await appendAll(log, [line(50)])
          await log.cut(20, { seq: 1, bytes: all.subarray(20) })
        })
        return async (next) => {
          const { leftovers } = need(next.outside)
          const found = await leftovers()
          left += found
          const { logs } = await next.process()
          const before = await rawPieces(logs)
          await logs.tidy(0)
          expect(await leftovers()).toBe(found)
          await logs.tidy(Date.now() + 60_000)
          expect(await leftovers()).toBe(0)
          const kept = [...before].filter(([name]) => !name.startsWith('.tmp-'))
          expect(new Map(kept)).toEqual(await rawPieces(logs))
        }
      })
      expect(left).toBeGreaterThan(0)
    },
  },
  {
    title: 'what cannot be read is returned by its name, and is not skipped',
    needs: ['outside'],
    check: withLog(async ({ stores, session, engine, log }) => {
      await appendAll(log, [line(9)])
      await engine.outside?.obstruct('index', session)
      // A folder is searched; its content is not readable as a file.
      expect(await rawPieces(stores.logs)).toBeInstanceOf(Map)
      const refusing = await stores.logs
        .each(async (name) => {
          if (name.startsWith(session)) throw new FileFailure('EACCES', 'the storage refuses')
        })
        .catch((error: unknown) => error)
      expect(refusing).toMatchObject({
        error: {
          kind: 'permission_denied',
          details: { file: expect.stringContaining(session) as unknown },
        },
      })
    }),
  },
]
