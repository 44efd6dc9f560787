import { expect } from 'vitest'
import { sha256 } from '../../../src/encoding/hash.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { readSpan } from '../../../src/host/files/files.ts'
import type { RecordsPlace } from '../../../src/host/files/records.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { CAUSE } from '../../../src/model/error-cause.ts'
import type { SessionId } from '../../../src/model/ids.ts'
import type { ImageReference } from '../../../src/model/tether/frame.ts'
import type { GuestRecords } from '../../../src/tether/records/guest-records.ts'
import { value } from '../../support/log/story.ts'
import { NAMED_BYTES } from '../../support/resources/blob-attacks.ts'
import { ONE, prepared, TWO, type RecordsCase, type RecordsUnderTest } from './under-test.ts'

const ids = systemIds(systemClock)
const PNG = 'image/png'
const NOT_MAPPED = { isMapped: false }
const head = (seq: number) => ({ seq, hash: sha256(`${seq}`), offset: 100 + seq })

async function stored(
  { records }: Pick<RecordsUnderTest, 'records'>,
  place: RecordsPlace,
): Promise<ImageReference> {
  const blob = value(await records.storeBlob(place, NAMED_BYTES, PNG)) as ImageReference['blob']
  return { media_type: PNG, blob, size: NAMED_BYTES.length }
}

/** The Logs that are listed, with their bytes. */
async function logsIn(records: GuestRecords, place: RecordsPlace) {
  return records.inLogs(place, async (logs) => {
    const found = new Map<SessionId, string | undefined>()
    for (const session of await logs.list()) {
      const log = await logs.open(session)
      found.set(session, log && (await readSpan(log, 0, 10_000)).toString())
      await log?.close()
    }
    return found
  })
}

/** What every implementation of `GuestRecords` must do. Each case names a promise of its comments. */
export const GUEST_RECORDS_CASES: readonly RecordsCase[] = [
  {
    title: 'creates records once, also by two calls one after the other, and changes none later',
    run: async (under) => {
      const place = await prepared(under)
      const reference = await stored(under, place)
      const session = ids.session()
      await under.writeLog(place, session, Buffer.from('{}\n'))
      for (const mode of ['create', 'open'] as const) {
        const again = await under.other.prepare(place, NOT_MAPPED, mode)
        expect(value(again)).toEqual(place)
      }
      expect(value(await under.records.readBlob(place, reference))).toEqual(NAMED_BYTES)
      expect(await logsIn(under.records, place)).toEqual(new Map([[session, '{}\n']]))
    },
  },
  {
    title: 'opening creates nothing in a workspace that was never used',
    run: async (under) => {
      const place = { workspace: await under.workspace(), instance: ONE }
      expect(value(await under.records.prepare(place, NOT_MAPPED, 'open'))).toEqual(place)
      expect(await logsIn(under.records, place)).toBeUndefined()
      expect(await under.records.storeBlob(place, NAMED_BYTES, PNG)).toMatchObject({
        error: { kind: 'not_found' },
      })
    },
  },
  {
    title: 'lists and reads the Logs of a guest in any process, and those of no other Instance',
    run: async (under) => {
      const one = await prepared(under)
      const two = await prepared(under, TWO, one.workspace)
      const elsewhere = await prepared(under)
      const [a, b, c] = [ids.session(), ids.session(), ids.session()]
      await under.writeLog(one, a, Buffer.from('a\n'))
      await under.writeLog(two, b, Buffer.from('b\n'))
      await under.writeLog(elsewhere, c, Buffer.from('c\n'))
      for (const records of [under.records, under.other]) {
        expect(await logsIn(records, one)).toEqual(new Map([[a, 'a\n']]))
        expect(await logsIn(records, two)).toEqual(new Map([[b, 'b\n']]))
        expect(await logsIn(records, elsewhere)).toEqual(new Map([[c, 'c\n']]))
      }
      const open = await under.records.inLogs(one, (logs) => logs.open(b))
      expect(open).toBeUndefined()
    },
  },
  {
    title: 'passes on what the work with the Logs returns and throws',
    run: async (under) => {
      const place = await prepared(under)
      await under.writeLog(place, ids.session(), Buffer.from('{}\n'))
      expect(await under.records.inLogs(place, async () => 'its result')).toBe('its result')
      const failing = under.records.inLogs(place, () => Promise.reject(new Error('planned')))
      await expect(failing).rejects.toThrow('planned')
    },
  },
  {
    title: 'keeps the heads of each Instance and of each workspace apart, for every process',
    run: async (under) => {
      const session = ids.session()
      const opened = [
        await under.records.heads(ONE, '/one'),
        await under.records.heads(ONE, '/two'),
        await under.records.heads(TWO, '/one'),
      ].map((heads) => value(heads))
      for (const [at, heads] of opened.entries()) {
        expect(value(await heads.read(session))).toBeUndefined()
        await heads.write(session, head(at))
      }
      for (const [at, heads] of opened.entries()) {
        expect(value(await heads.read(session))).toEqual(head(at))
        expect(await heads.list()).toEqual([session])
        await heads.close()
      }
      const again = value(await under.other.heads(ONE, '/two'))
      expect(value(await again.read(session))).toEqual(head(1))
      await again.remove(session)
      await again.settle()
      await again.close()
      const rest = value(await under.records.heads(ONE, '/one'))
      expect(value(await rest.read(session))).toEqual(head(0))
      await rest.close()
    },
  },
  {
    title: 'returns the bytes of a blob that matches its reference, in any process, and its size',
    run: async (under) => {
      const place = await prepared(under)
      const reference = await stored(under, place)
      expect(reference.blob).toBe(`${sha256(NAMED_BYTES)}.png`)
      for (const records of [under.records, under.other]) {
        expect(value(await records.readBlob(place, reference))).toEqual(NAMED_BYTES)
        expect(value(await records.blobSize(place, reference.blob))).toBe(NAMED_BYTES.length)
      }
      expect(await stored(under, place)).toEqual(reference)
      const other = await prepared(under, TWO, place.workspace)
      expect(value(await under.records.blobSize(other, reference.blob))).toBeUndefined()
      expect(await under.records.readBlob(other, reference)).toMatchObject({ ok: false })
    },
  },
  {
    title: 'stores a blob as a blob store does',
    run: async (under) => {
      const place = await prepared(under)
      const refused = await under.records.storeBlob(place, NAMED_BYTES, 'text/html')
      expect(refused).toMatchObject({ error: { kind: 'unsupported_type' } })
      const reference = await stored(under, place)
      await under.replaceBlob(place, reference.blob, Buffer.from('damaged'))
      expect(await stored(under, place)).toEqual(reference)
      expect(value(await under.records.readBlob(place, reference))).toEqual(NAMED_BYTES)
    },
  },
  {
    title: 'returns no bytes that differ from the reference, whatever a guest puts in their place',
    run: async (under) => {
      const place = await prepared(under)
      const reference = await stored(under, place)
      const missing = { error: { kind: 'resource_missing', [CAUSE]: { type: 'payload' } } }
      const same = Buffer.alloc(NAMED_BYTES.length, 7)
      const longer = Buffer.concat([NAMED_BYTES, NAMED_BYTES])
      for (const bytes of [same, longer, Buffer.alloc(0), NAMED_BYTES.subarray(1), undefined]) {
        await under.replaceBlob(place, reference.blob, bytes)
        expect(await under.records.readBlob(place, reference)).toMatchObject(missing)
        expect(value(await under.records.blobSize(place, reference.blob))).toBe(bytes?.length)
      }
      const text = Buffer.from('the key of the host')
      const blob = `${sha256(text)}.png`
      await under.replaceBlob(place, blob, text)
      const named = { media_type: PNG, blob, size: text.length }
      expect(await under.records.readBlob(place, named)).toMatchObject(missing)
    },
  },
  {
    title: 'refuses an invalid reference before anything is read',
    run: async (under) => {
      const place = await prepared(under)
      const reference = await stored(under, place)
      for (const change of [
        { blob: `../blobs/${reference.blob}` },
        { blob: reference.blob.toUpperCase() },
        { media_type: 'image/gif' },
        { size: -1 },
        { data: 'AAAA' },
      ]) {
        const read = await under.records.readBlob(place, { ...reference, ...change })
        expect(read).toMatchObject({ error: { kind: 'invalid_args' } })
      }
      expect(await under.records.readBlob(place, undefined)).toMatchObject({ ok: false })
    },
  },
  {
    title: 'follows no link to Logs or blobs outside, and writes nothing there',
    links: true,
    run: async (under) => {
      const { links } = under
      if (links === undefined) throw new Error('it has no links')
      for (const what of ['sessions', 'blobs', 'all'] as const) {
        const place = await prepared(under)
        const reference = await stored(under, place)
        await under.writeLog(place, ids.session(), Buffer.from('{}\n'))
        await links.lead(place, what)
        const before = await links.outside()
        const list = logsIn(under.records, place).then(
          (found) => found?.size ?? 0,
          () => 0,
        )
        expect(await list).toBe(what === 'blobs' ? 1 : 0)
        if (what === 'sessions') continue
        expect(await under.records.readBlob(place, reference)).toMatchObject({ ok: false })
        const put = await under.records.storeBlob(place, Buffer.from(NAMED_BYTES), PNG)
        expect(put).toMatchObject({ ok: false })
        expect(await links.outside()).toEqual(before)
      }
    },
  },
  {
    title: 'reads no file outside that a guest put a link to in the place of a blob or a Log',
    links: true,
    run: async (under) => {
      const { links } = under
      if (links === undefined) throw new Error('it has no links')
      const place = await prepared(under)
      const reference = await stored(under, place)
      await links.leadFile(place, 'blobs', reference.blob, NAMED_BYTES)
      expect(await under.records.readBlob(place, reference)).toMatchObject({ ok: false })
      const session = ids.session()
      await under.writeLog(place, session, Buffer.from('{}\n'))
      await links.leadFile(place, 'sessions', `${session}.ndjson`, Buffer.from('secret'))
      const read = logsIn(under.records, place).then(
        (found) => found?.get(session),
        () => undefined,
      )
      expect(await read).toBeUndefined()
    },
  },
]
