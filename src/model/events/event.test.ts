import { describe, expect, expectTypeOf, test } from 'vitest'
import { durabilityOf, EPHEMERAL_DATA, EventEnvelope, isEventEnvelope, readEvent } from './event.ts'
import type {
  EphemeralData,
  EphemeralEvent,
  Event,
  EventData,
  EventDraft,
  KnownEvent,
  LoggedEvent,
  StoredData,
  UnknownEvent,
} from './event.ts'
import type { BlobKey } from '../ids.ts'

const ulid = '01jaaaaaaaaaaaaaaaaaaaaaaa'
const sha = 'a'.repeat(64)
const LINE = {
  v: 1,
  seq: 7,
  id: `evt_${ulid}`,
  session_id: `ses_${ulid}`,
  turn_id: `trn_${ulid}`,
  ts: '2026-01-31T12:00:00.000Z',
  type: 'notice',
  data: { code: 'c', text: 't' },
  batch: 2,
  prev: sha,
  crc: '0123abcd',
}

function envelope(type: string, data: object): EventEnvelope {
  return EventEnvelope.parse({ ...LINE, type, data })
}

function whyUnknown(type: string, data: object): string | undefined {
  const logged = readEvent(envelope(type, data))
  return logged.isKnown ? undefined : logged.why
}

describe('an envelope', () => {
  test('keeps unknown fields, and its data as the same object', () => {
    const line = { ...LINE, later: { a: 1 } }
    const parsed = EventEnvelope.parse(line)
    expect(parsed).toEqual(line)
    expect(parsed.data).toBe(LINE.data)
  })

  test('needs neither turn nor batch, and no previous line at the start', () => {
    const { turn_id, batch, ...rest } = LINE
    expect([turn_id, batch]).toEqual([LINE.turn_id, 2])
    expect(EventEnvelope.safeParse({ ...rest, seq: 0, prev: null }).success).toBe(true)
  })

  test.each([
    { v: 2 },
    { seq: -1 },
    { seq: 1.5 },
    { id: `ses_${ulid}` },
    { session_id: 'ses_../../etc' },
    { turn_id: null },
    { ts: '2026-01-31T12:00:00Z' },
    { ts: '2026-01-31T12:00:00.000+00:00' },
    { ts: '2026-02-30T12:00:00.000Z' },
    { type: 3 },
    { data: [] },
    { data: null },
    { batch: -1 },
    { prev: undefined },
    { prev: sha.toUpperCase() },
    { crc: '0123ABCD' },
    { crc: '0123abcd\n' },
  ])('is refused with %o', (wrong) => {
    expect(EventEnvelope.safeParse({ ...LINE, ...wrong }).success).toBe(false)
  })
})

describe('reading an Event', () => {
  test('returns the same object, including unknown fields of its data', () => {
    const raw = envelope('notice', { code: 'c', text: 't', later: [1] })
    const logged = readEvent(raw)
    expect(logged).toEqual({ isKnown: true, event: raw })
    expect(logged.event).toBe(raw)
    expect(logged.event.data).toEqual({ code: 'c', text: 't', later: [1] })
  })

  test.each(['coffee_brewed', 'text_delta', '', '__proto__', 'constructor', 'toString'])(
    'keeps type "%s" as unknown',
    (type) => {
      const raw = envelope(type, { a: 1 })
      const logged = readEvent(raw)
      expect(logged).toEqual({ isKnown: false, event: raw, why: 'unknown_type' })
      expect(logged.event).toBe(raw)
    },
  )

  test('keeps a known type of another shape as unknown', () => {
    const raw = envelope('turn_ended', { status: 'evaporated' })
    expect(readEvent(raw)).toEqual({ isKnown: false, event: raw, why: 'unknown_shape' })
  })

  test('is not confused by data with an own __proto__', () => {
    const data = JSON.parse('{"__proto__":{"code":"c","text":"t"}}') as object
    expect(whyUnknown('notice', data)).toBe('unknown_shape')
  })
})

describe('a spilled field', () => {
  const text_blob = `${sha}.txt`

  test('is replaced by its blob', () => {
    expect(whyUnknown('user_message', { text_blob, prompt_mode: 'string' })).toBe(undefined)
    expect(whyUnknown('tool_call', { call_id: 'c', name: 'n', arguments_blob: text_blob })).toBe(
      undefined,
    )
    expect(whyUnknown('reasoning', { dialect: 'chat', model: 'm', item_blob: `${sha}.json` })).toBe(
      undefined,
    )
  })

  test('may be optional, and there may be several', () => {
    const data = { text_blob, prompt_mode: 'string', presenter_context_blob: `${sha}.json` }
    expect(whyUnknown('user_message', data)).toBe(undefined)
  })

  test.each([
    ['an invalid blob key', { text_blob: '../x', prompt_mode: 'string' }],
    ['the field as well', { text: 'a', text_blob, prompt_mode: 'string' }],
    ['a missing field', { text_blob }],
    ['an invalid field', { text_blob, prompt_mode: 'string', steer: 'yes' }],
    ['a bad optional blob', { text: 'a', prompt_mode: 'string', presenter_context_blob: 1 }],
    ['a field that is never long', { text: 'a', prompt_mode_blob: text_blob }],
  ])('with %s has an unknown shape', (_, data) => {
    expect(whyUnknown('user_message', data)).toBe('unknown_shape')
  })

  test('is never an id, hash, number or date', () => {
    expect(whyUnknown('resource_dropped', { resource_id_blob: text_blob, by: 'person' })).toBe(
      'unknown_shape',
    )
    expect(whyUnknown('log_repaired', { cut_bytes_blob: text_blob, kept_as: 'x' })).toBe(
      'unknown_shape',
    )
    const late = { workspace: '/w', mode: 'build', permission_mode: 'ask' }
    expect(whyUnknown('late_context', { ...late, date_blob: text_blob })).toBe('unknown_shape')
  })

  test('is not confused with a field whose own name has the same ending', () => {
    const result = { call_id: 'c', name: 'edit', outcome: 'ok', output: '', duration_ms: 1 }
    expect(whyUnknown('tool_result', { ...result, before_blob: text_blob })).toBe(undefined)
    expect(whyUnknown('tool_result', { ...result, before_blob: 'x' })).toBe('unknown_shape')
  })

  test('is optional in the type; short fields are not', () => {
    expectTypeOf<StoredData<'user_message'>['text']>().toEqualTypeOf<string | undefined>()
    expectTypeOf<StoredData<'user_message'>['text_blob']>().toEqualTypeOf<BlobKey | undefined>()
    expectTypeOf<StoredData<'user_message'>['prompt_mode']>().toEqualTypeOf<'string' | 'blocks'>()
    expectTypeOf<StoredData<'log_repaired'>['cut_bytes']>().toEqualTypeOf<number>()
    expectTypeOf<StoredData<'log_repaired'>>().not.toHaveProperty('cut_bytes_blob')
  })
})

describe('the types of Events', () => {
  test('distinguish Events by their type', () => {
    expectTypeOf<Event>().toEqualTypeOf<KnownEvent>()
    expectTypeOf<Extract<Event, { type: 'notice' }>>().toEqualTypeOf<KnownEvent<'notice'>>()
    expectTypeOf<Extract<LoggedEvent, { isKnown: false }>>().toEqualTypeOf<UnknownEvent>()
    expectTypeOf<EventData<'notice'>>().toEqualTypeOf<{
      readonly code: string
      readonly text: string
      readonly surface_sha256?: string | undefined
    }>()
  })

  test('restrict a draft to the data of its type', () => {
    expectTypeOf<{ type: 'notice'; data: { code: string; text: string } }>().toExtend<EventDraft>()
    expectTypeOf<{ type: 'tool_call'; data: { code: string } }>().not.toExtend<EventDraft>()
    expectTypeOf<{
      type: 'notice'
      data: { code: string; text_blob: BlobKey }
    }>().not.toExtend<EventDraft>()
  })

  test('give an ephemeral event the data of its type', () => {
    expectTypeOf<Extract<EphemeralEvent, { type: 'text_delta' }>['data']>().toEqualTypeOf<
      EphemeralData<'text_delta'>
    >()
  })
})

describe('durability', () => {
  const decision = {
    subject: 'bash',
    args_sha256: sha,
    mode: 'ask',
    decision: 'allowed',
    scope: 'once',
  } as const

  test('of a permission decision depends on who made it', () => {
    const by = (who: 'policy' | 'person' | 'timeout' | 'nobody') =>
      durabilityOf({ type: 'permission_decision', data: { ...decision, by: who } })
    expect([by('person'), by('policy'), by('timeout'), by('nobody')]).toEqual([
      'now',
      'soon',
      'soon',
      'soon',
    ])
  })

  test('of another Event depends on its type alone', () => {
    expect(durabilityOf({ type: 'text_pinned', data: { text: 't', by: 'person' } })).toBe('soon')
    expect(
      durabilityOf({ type: 'tool_call', data: { call_id: 'c', name: 'n', arguments: '' } }),
    ).toBe('now')
  })
})

test('context pressure carries the figures, the tier of a recovery and what to do next', () => {
  const pressure = {
    tier: 'recovery',
    ratio: 0.93,
    input_tokens: 930,
    window_tokens: 1000,
    trigger: 'overflow_recovery',
    compaction_event_id: `evt_${ulid}`,
    next_actions: [{ action: 'compact', command: 'hawser compact ses_x' }],
  }
  expect(EPHEMERAL_DATA.context_pressure.parse(pressure)).toEqual(pressure)
  expect(EPHEMERAL_DATA.context_pressure.safeParse({ ...pressure, tier: 'x' }).success).toBe(false)
})

test('the quick check of an envelope agrees with its schema', () => {
  const good = {
    v: 1,
    seq: 3,
    id: 'evt_01kg8m2q3r4s5t6v7w8x9y0z12',
    session_id: 'ses_01kg8m2q3r4s5t6v7w8x9y0z12',
    turn_id: 'trn_01kg8m2q3r4s5t6v7w8x9y0z12',
    ts: '2026-01-31T12:00:00.000Z',
    type: 'notice',
    data: {},
    batch: 2,
    prev: 'ab'.repeat(32),
    crc: '0123abcd',
  }
  const odd = [undefined, null, '', 'x', -1, 0, 1, 1.5, 2 ** 53, [], {}, true, `${good.id}\n`]
  const agree = (value: unknown) =>
    isEventEnvelope(value) === EventEnvelope.safeParse(value).success
  expect([isEventEnvelope(good), isEventEnvelope({ ...good, more: 1 })]).toEqual([true, true])
  for (const field of Object.keys(good)) {
    const rest = Object.fromEntries(Object.entries(good).filter(([name]) => name !== field))
    expect({ field, agree: agree(rest) }).toEqual({ field, agree: true })
    for (const value of odd) {
      expect({ field, value, agree: agree({ ...good, [field]: value }) }).toEqual({
        field,
        value,
        agree: true,
      })
    }
  }
  for (const value of odd) expect(agree(value)).toBe(true)
})
