import { expect, test } from 'vitest'
import {
  appended,
  compacted,
  planned,
  talk,
  writtenSession,
} from '../../test/support/pressure/planned-session.ts'
import { sampleDescriptor } from '../../test/support/history/sample-resources.ts'
import { base64Length } from '../encoding/base64.ts'
import type { EventDraft, WholeEvent } from '../model/events/event.ts'
import { estimatedTokens, gaugeOf } from './gauge.ts'

const SESSION = writtenSession(talk(20))
const CALLER = { dialect: 'messages', model: 'a-model' }

/** With one more call that had that many prompt tokens. */
function called(
  events: readonly WholeEvent[],
  input: number,
  { model = 'a-model', dialect = 'messages' as const } = {},
): WholeEvent[] {
  const request: EventDraft = {
    type: 'provider_request',
    data: {
      call_index: 0,
      attempt: 0,
      dialect,
      model,
      contract_version: 'hw1',
      cache_key: 'hw1',
      request_sha256: '0'.repeat(64),
      request_bytes: input * 4,
      shared_prefix_bytes: 0,
      transport: 'http-sse',
    },
  }
  const usage = { input, cached_read: 0, cache_write: 0, output: 7, reasoning: 0 }
  const data = {
    call_index: 0,
    usage,
    latency_ms: 1,
    pressure: 'unavailable',
    stop_reason: 'end',
  } as const
  return appended(events, [request, { type: 'provider_usage', data }])
}

function undone(events: readonly WholeEvent[]): WholeEvent[] {
  const last = events.findLast(({ type }) => type === 'history_compaction')
  if (last === undefined) throw new Error('no compaction')
  const data = { compaction_event_id: last.id, reason: 'manual' }
  return appended(events, [{ type: 'compaction_undone', data }])
}

test('[PC-048] the gauge is the last recorded usage of this model', () => {
  expect(gaugeOf(SESSION, CALLER)).toBeUndefined()
  const one = called(SESSION, 100)
  expect(gaugeOf(one, CALLER)).toMatchObject({ tokens: 100, output: 7, wasUndone: false })
  const two = called(one, 200)
  expect(gaugeOf(two, CALLER)?.tokens).toBe(200)
  const other = called(two, 999, { model: 'another' })
  expect(gaugeOf(other, CALLER)?.tokens).toBe(200)
  expect(gaugeOf(other, { model: 'another' })?.tokens).toBe(999)
  expect(gaugeOf(other, { model: 'another', dialect: 'chat' })).toBeUndefined()
})

test('[PC-055] a compaction ends the gauge until the next call; an undo restores it and is marked', () => {
  const before = called(SESSION, 100)
  const checkpoint = compacted(before, planned(before).data)
  expect(gaugeOf(checkpoint, CALLER)).toBeUndefined()
  const after = called(checkpoint, 30)
  expect(gaugeOf(after, CALLER)).toMatchObject({ tokens: 30, wasUndone: false })
  expect(gaugeOf(undone(after), CALLER)).toMatchObject({ tokens: 100, wasUndone: true })
  expect(gaugeOf(called(undone(after), 120), CALLER)).toMatchObject({
    tokens: 120,
    wasUndone: false,
  })
})

test('an estimate adds the bytes that a request has more, at the ratio of the gauged one', () => {
  const gauge = gaugeOf(called(SESSION, 1_000), CALLER)
  const kindOf = () => undefined
  expect(estimatedTokens({ request_bytes: 4_000 }, gauge, kindOf)).toBe(1_000)
  expect(estimatedTokens({ request_bytes: 4_000_000 }, gauge, kindOf)).toBe(1_000_000)
  expect(estimatedTokens({ request_bytes: 2_000 }, gauge, kindOf)).toBe(500)
  expect(estimatedTokens({ request_bytes: 4_000 }, undefined, kindOf)).toBe(1_000)
})

test('an image counts the same whatever its size, and a text by its bytes', () => {
  const { resource_id } = sampleDescriptor('@img1')
  const content_sha256 = '0'.repeat(64)
  const bytes = 900_000
  const projected = [{ resource_id, content_sha256, bytes, lifetime: 'turn' }] as const
  const image = { request_bytes: 4_000 + base64Length(bytes), projected }
  expect(estimatedTokens(image, undefined, () => 'image')).toBe(1_500)
  const text = { request_bytes: 4_000 + bytes, projected }
  expect(estimatedTokens(text, undefined, () => 'text')).toBe(226_000)
})
