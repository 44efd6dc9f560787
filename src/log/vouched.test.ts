import type { FilePlace } from '../../test/support/log/file-place.ts'
import { expect, test } from 'vitest'
import { CrashDisk } from '../../test/support/host/crash-disk.ts'
import { generateLog, SAMPLE_SESSION } from '../../test/support/history/log-generator.ts'
import { immediateClock, testPlace } from '../../test/support/log/log-place.ts'
import { overwrite, rawBytes } from '../../test/support/log/raw-log.ts'
import { sessionStarted, value } from '../../test/support/log/story.ts'
import { textFold } from '../../test/support/log/text-fold.ts'
import { sha256 } from '../encoding/hash.ts'
import { parseJson } from '../encoding/json.ts'
import { systemIds } from '../host/ids.ts'
import type { EventDraft, EventEnvelope } from '../model/events/event.ts'
import { headOf, type HeadRecord } from './head-record.ts'
import { sealLine, type Cursor } from './line.ts'
import { createLog } from './open.ts'
import { logName } from './files/names.ts'
import type { LogPlace } from './place.ts'
import { openReader } from './reader.ts'
import { LOG_START } from './scan.ts'

const ids = systemIds(immediateClock)
const SCHEMAS = 'schemas of this test'
const TS = '2026-01-31T12:00:00.000Z'

/** What a line is made of; it need not match a schema. */
interface Raw extends Pick<EventEnvelope, 'type'> {
  readonly data: unknown
}

async function placeWith(schemas: string | undefined) {
  const here = await testPlace(new CrashDisk(1).folder(), immediateClock)
  return { ...here, place: { ...here.place, schemas } }
}

/** Writes lines with intact checksums and an intact chain, whatever they contain. Returns the position after each. */
async function writeRaw(place: FilePlace, events: readonly Raw[]): Promise<Cursor[]> {
  const places: Cursor[] = []
  const lines: Buffer[] = []
  let at: Cursor = LOG_START
  for (const { type, data } of events) {
    const text = JSON.stringify(data)
    const unsealed = { id: ids.event(), session_id: SAMPLE_SESSION, ts: TS, type, data: text }
    const { bytes } = sealLine(unsealed, at.seq, at.prev, 0)
    const prev = sha256(bytes.subarray(0, -1))
    at = { offset: at.offset + bytes.length, seq: at.seq + 1, prev }
    lines.push(bytes)
    places.push(at)
  }
  await overwrite(place.folders.sessions, logName(SAMPLE_SESSION), Buffer.concat(lines))
  return places
}

/** The lines as `lines` and as `forward` deliver them, each with how reading ended. */
async function bothWays(place: LogPlace) {
  const reader = value(await openReader(place, SAMPLE_SESSION))
  const slow: unknown[] = []
  const end = value(await reader.forward((line) => void slow.push(line)))
  const fast = value(await reader.lines())
  await reader.close()
  return { fast, slow: { ...end, lines: slow } }
}

async function knownLines(place: LogPlace): Promise<boolean[]> {
  const { fast } = await bothWays(place)
  return fast.lines.map(({ content }) => content.isKnown)
}

const GOOD: readonly Raw[] = [
  sessionStarted,
  { type: 'text_pinned', data: { text: 'a', by: 'person' } },
]
const BAD: Raw = { type: 'user_message', data: { text: 7 } }
const LAST: Raw = { type: 'notice', data: { code: 'x', text: 'y' } }

test('lines under a head on this machine are the same whether or not their schemas are checked', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { place } = await placeWith(SCHEMAS)
    const places = await writeRaw(place, generateLog(seed).drafts)
    for (const end of [places.at(-1), places.at(places.length / 2)]) {
      if (end === undefined) expect.fail('the Log has no such line')
      await place.heads.write(SAMPLE_SESSION, headOf(end, SCHEMAS))
      const { fast, slow } = await bothWays(place)
      expect(fast).toEqual(slow)
      expect(fast.damage).toBeUndefined()
    }
  }
})

test('a head that says so spares the schemas of the lines it covers', async () => {
  const { place } = await placeWith(SCHEMAS)
  const [, , bad, last] = await writeRaw(place, [...GOOD, BAD, LAST])
  if (bad === undefined || last === undefined) expect.fail('lines are missing')
  await place.heads.write(SAMPLE_SESSION, headOf(last, SCHEMAS))
  expect(await knownLines(place)).toEqual([true, true, true, true])
})

test.each<{ readonly name: string; readonly schemas?: string; readonly marked?: string }>([
  { name: 'does not say that schemas were checked', schemas: SCHEMAS },
  { name: 'was written with other schemas', schemas: SCHEMAS, marked: 'others' },
  { name: 'says so, but this build has no schemas of its own', marked: SCHEMAS },
])('a line that does not match its schema stays unknown if the head $name', async (row) => {
  const { place } = await placeWith(row.schemas)
  const end = (await writeRaw(place, [...GOOD, BAD, LAST])).at(-1) ?? LOG_START
  await place.heads.write(SAMPLE_SESSION, headOf(end, row.marked))
  expect(await knownLines(place)).toEqual([true, true, false, true])
})

test('a line that does not match its schema stays unknown in a foreign Log and after the head', async () => {
  const { place } = await placeWith(SCHEMAS)
  const [, second] = await writeRaw(place, [...GOOD, BAD, LAST])
  expect(await knownLines(place)).toEqual([true, true, false, true])
  await place.heads.write(SAMPLE_SESSION, headOf(second ?? LOG_START, SCHEMAS))
  expect(await knownLines(place)).toEqual([true, true, false, true])
})

test('if a Log does not contain its head, every line is checked and the damage is reported', async () => {
  const { place } = await placeWith(SCHEMAS)
  const end = (await writeRaw(place, [...GOOD, LAST, LAST])).at(-1) ?? LOG_START
  await place.heads.write(SAMPLE_SESSION, headOf(end, SCHEMAS))
  await writeRaw(place, [...GOOD, BAD, LAST])
  const { fast, slow } = await bothWays(place)
  expect(fast).toEqual(slow)
  expect(fast.damage).toMatchObject({ kind: 'log_damaged', details: { reason: 'head_differs' } })
  expect(fast.lines.map(({ content }) => content.isKnown)).toEqual([true, true, false, true])
})

test('bytes that read as the same text are damage', async () => {
  const { place } = await placeWith(SCHEMAS)
  const replaced: Raw = { type: 'text_pinned', data: { text: '\ufffd', by: 'person' } }
  const end = (await writeRaw(place, [...GOOD, replaced, LAST])).at(-1) ?? LOG_START
  await place.heads.write(SAMPLE_SESSION, headOf(end, SCHEMAS))
  const bytes = Buffer.from(await rawBytes(place.folders.sessions, logName(SAMPLE_SESSION)))
  // The start of an emoji: as many bytes as the character that decoders show in its place.
  bytes.set([0xf0, 0x9f, 0x98], bytes.indexOf('\ufffd'))
  await overwrite(place.folders.sessions, logName(SAMPLE_SESSION), bytes)
  const { fast, slow } = await bothWays(place)
  expect(fast).toEqual(slow)
  expect(fast.damage).toMatchObject({ kind: 'log_damaged', details: { reason: 'not_utf8' } })
})

test('a changed checksum is damage, although only hashes are checked', async () => {
  const { place } = await placeWith(SCHEMAS)
  const end = (await writeRaw(place, [...GOOD, LAST])).at(-1) ?? LOG_START
  await place.heads.write(SAMPLE_SESSION, headOf(end, SCHEMAS))
  const bytes = Buffer.from(await rawBytes(place.folders.sessions, logName(SAMPLE_SESSION)))
  const digit = bytes.indexOf('"crc":"', bytes.indexOf('text_pinned')) + '"crc":"'.length
  bytes[digit] = bytes[digit] === 0x30 ? 0x31 : 0x30
  await overwrite(place.folders.sessions, logName(SAMPLE_SESSION), bytes)
  const { fast, slow } = await bothWays(place)
  expect(fast).toEqual(slow)
  expect(fast.damage).toMatchObject({ kind: 'log_damaged', details: { reason: 'checksum' } })
})

test('a line in the chain of a forger, whose type is not a text, is damage', async () => {
  const { place } = await placeWith(SCHEMAS)
  const end = (await writeRaw(place, [...GOOD, LAST])).at(-1) ?? LOG_START
  await place.heads.write(SAMPLE_SESSION, headOf(end, SCHEMAS))
  const [first] = await writeRaw(place, GOOD)
  const [line = ''] = (await rawBytes(place.folders.sessions, logName(SAMPLE_SESSION)))
    .subarray(first?.offset)
    .toString()
    .split('\n')
  const forged = line.replace('"type":"text_pinned"', '"type":{"toString":1}')
  const start = (await rawBytes(place.folders.sessions, logName(SAMPLE_SESSION))).subarray(
    0,
    first?.offset,
  )
  const all = Buffer.concat([start, Buffer.from(`${forged}\n`), Buffer.alloc(end.offset, 0x20)])
  await overwrite(place.folders.sessions, logName(SAMPLE_SESSION), all)
  const { fast, slow } = await bothWays(place)
  expect(fast).toEqual(slow)
  expect(fast.damage?.kind).toBe('log_damaged')
})

async function headIn({ folders: { heads } }: FilePlace): Promise<HeadRecord> {
  return parseJson((await rawBytes(heads, SAMPLE_SESSION)).toString()) as HeadRecord
}

test('a writer marks the head while every line matches its schema, and no longer', async () => {
  const { place, keep } = await placeWith(SCHEMAS)
  const first: readonly EventDraft[] = [sessionStarted]
  const writer = value(await createLog(place, SAMPLE_SESSION, first, { fold: textFold, keep }))
  expect((await headIn(place)).checked_with).toBe(SCHEMAS)
  const envelope = { v: 1, seq: 1, session_id: SAMPLE_SESSION, ts: TS, prev: null } as const
  const strange = { ...envelope, id: ids.event(), type: 'user_message', crc: '00000000' }
  value(await writer.restore([{ ...strange, data: { text: 7 } }]))
  expect((await headIn(place)).checked_with).toBeUndefined()
  writer.vouch(LOG_START)
  value(await writer.append([{ type: 'text_pinned', data: { text: 'a', by: 'person' } }]))
  expect((await headIn(place)).checked_with).toBeUndefined()
  await writer.release()
})
