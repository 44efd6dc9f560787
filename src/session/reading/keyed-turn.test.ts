import { expect, test } from 'vitest'
import { CrashDisk } from '../../../test/support/host/crash-disk.ts'
import { SAMPLES } from '../../../test/support/history/every-event-data.ts'
import { immediateClock, testPlace } from '../../../test/support/log/log-place.ts'
import { overwrite } from '../../../test/support/log/raw-log.ts'
import { value } from '../../../test/support/log/story.ts'
import { sha256 } from '../../encoding/hash.ts'
import { KEY_PLACEHOLDER } from '../../encoding/redaction.ts'
import { sealLine } from '../../log/line.ts'
import { logName } from '../../log/files/names.ts'
import { EventId, SessionId, TurnId } from '../../model/ids.ts'
import { keyedTurn } from './keyed-turn.ts'
import type { ReadParts } from './read-log.ts'

const SESSION = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')
const ID = EventId.parse('evt_01kg8m2q3r4s5t6v7w8x9y0z12')
const ENDED = SAMPLES.turn_ended

interface RawEvent {
  readonly type: string
  readonly data: object
  readonly turn_id?: TurnId
}

const BEGUN: RawEvent = { type: 'session_started', data: SAMPLES.session_started }
const CHECKPOINT: RawEvent = { type: 'history_compaction', data: SAMPLES.history_compaction }

function turnId(n: number): TurnId {
  return TurnId.parse(`trn_01kg8m2q3r4s5t6v7w8x9y0z${String(n).padStart(2, '0')}`)
}

function started(n: number, message_key?: string): RawEvent[] {
  const turn_id = turnId(n)
  const source = { presenter: 'test', ...(message_key === undefined ? {} : { message_key }) }
  const message = { text: 'x'.repeat(50_000), prompt_mode: 'string' }
  return [
    { type: 'turn_started', turn_id, data: { source } },
    { type: 'user_message', turn_id, data: message },
  ]
}

function ended(n: number): RawEvent {
  return { type: 'turn_ended', turn_id: turnId(n), data: ENDED }
}

/** A Log with these Events; `damageAt` is the number of a line to damage. */
async function logWith(events: readonly RawEvent[], damageAt?: number): Promise<ReadParts> {
  const { place, store } = await testPlace(new CrashDisk(1).folder(), immediateClock)
  let prev: string | null = null
  const lines: Buffer[] = []
  for (const [seq, { type, data, turn_id }] of [BEGUN, ...events].entries()) {
    const envelope = { id: ID, session_id: SESSION, ts: '2026-01-31T12:00:00.000Z', type }
    const turn = turn_id === undefined ? {} : { turn_id }
    const { bytes } = sealLine({ ...envelope, ...turn, data: JSON.stringify(data) }, seq, prev, 0)
    prev = sha256(bytes.subarray(0, -1))
    if (seq === damageAt) bytes[20] = 0
    lines.push(bytes)
  }
  await overwrite(place.folders.sessions, logName(SESSION), Buffer.concat(lines))
  return { place, store, secrets: [] }
}

test('finds the Turn with exactly this key and its end, also before a checkpoint', async () => {
  const log = await logWith([
    ...started(1),
    ended(1),
    ...started(2, 'key 2'),
    ended(2),
    ...started(3, 'key 3'),
    ended(3),
    CHECKPOINT,
    ...started(4, 'key 4'),
  ])
  expect(value(await keyedTurn(log, SESSION, 'key 2'))).toEqual({ turn: turnId(2), ended: ENDED })
  expect(value(await keyedTurn(log, SESSION, 'key 3'))).toEqual({ turn: turnId(3), ended: ENDED })
  expect(value(await keyedTurn(log, SESSION, 'key 4'))).toEqual({
    turn: turnId(4),
    ended: undefined,
  })
  for (const other of ['key', 'key 22', 'KEY 2', ''])
    expect(value(await keyedTurn(log, SESSION, other))).toBeUndefined()
})

test('finds a Turn that begins and ends on different pages, and one after many pages', async () => {
  const long = Array.from({ length: 30 }, (_, n) => [...started(n + 10), ended(n + 10)]).flat()
  const [start, message] = started(1, 'long')
  if (start === undefined || message === undefined) expect.fail('no Events')
  const steers = Array.from({ length: 30 }, () => message)
  const log = await logWith([...long, start, ...steers, ended(1), ...started(2, 'last'), ended(2)])
  expect(value(await keyedTurn(log, SESSION, 'long'))).toEqual({ turn: turnId(1), ended: ENDED })
  expect(value(await keyedTurn(log, SESSION, 'last'))).toEqual({ turn: turnId(2), ended: ENDED })
})

test('skips Events of unknown type or shape', async () => {
  const log = await logWith([
    { type: 'from_the_future', turn_id: turnId(1), data: { source: { message_key: 'key' } } },
    { type: 'turn_ended', turn_id: turnId(1), data: { status: 'from the future' } },
    ...started(1, 'key'),
    { type: 'from_the_future', turn_id: turnId(1), data: {} },
    ended(1),
  ])
  expect(value(await keyedTurn(log, SESSION, 'key'))).toEqual({ turn: turnId(1), ended: ENDED })
})

test('ignores damage after the end of the Turn, and fails at damage before it', async () => {
  const events = [...started(1, 'one'), ended(1), ...started(2, 'two'), ended(2)]
  const log = await logWith(events, 5)
  expect(value(await keyedTurn(log, SESSION, 'one'))).toEqual({ turn: turnId(1), ended: ENDED })
  for (const key of ['two', 'three'])
    expect(await keyedTurn(log, SESSION, key)).toMatchObject({ error: { kind: 'log_damaged' } })
})

test('compares the redacted form of a recorded key', async () => {
  const secret = 'sk-secret-of-this-test'
  const log = await logWith([...started(1, `a ${secret}`), ended(1)])
  const keyed = { ...log, secrets: [secret] }
  const found = value(await keyedTurn(keyed, SESSION, `a ${KEY_PLACEHOLDER}`))
  expect(found?.turn).toBe(turnId(1))
})

test('skips a Turn whose message was lost', async () => {
  const lost = started(1, 'key').slice(0, 1)
  const log = await logWith([...lost, ended(1), ...started(2, 'other'), ended(2)])
  expect(value(await keyedTurn(log, SESSION, 'key'))).toBeUndefined()
  const repeated = await logWith([...lost, ended(1), ...started(2, 'key'), ended(2)])
  expect(value(await keyedTurn(repeated, SESSION, 'key'))?.turn).toBe(turnId(2))
})
