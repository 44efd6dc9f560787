import { expect, test } from 'vitest'
import { SAMPLE_SESSION } from '../../test/support/history/log-generator.ts'
import type { WholeEvent } from '../model/events/event.ts'
import { EventId } from '../model/ids.ts'
import { CallIds } from './call-ids.ts'

function called(seq: number, call_id: string): WholeEvent {
  return {
    v: 1,
    seq,
    id: EventId.parse('evt_01kg8m2q3r4s5t6v7w8x9y0z12'),
    session_id: SAMPLE_SESSION,
    ts: '2026-01-31T12:00:00.000Z',
    prev: null,
    crc: '00000000',
    type: 'tool_call',
    data: { call_id, name: 'read', arguments: '{}' },
  }
}

test('a new id is kept, and a used id is replaced by a new one', () => {
  const events = [called(0, 'call_0')]
  const ids = new CallIds(() => events)
  expect(ids.claim('toolu_1')).toBe('toolu_1')
  const first = ids.claim('call_0')
  events.push(called(1, first))
  const second = ids.claim('call_0')
  expect(first).toMatch(/^call_[0-9a-f]{24}$/)
  expect(new Set(['call_0', first, second]).size).toBe(3)
})

test('two calls of one answer never get the same id', () => {
  const ids = new CallIds(() => [called(0, 'a'), called(1, 'b')])
  expect(new Set(['a', 'a', 'b', 'b', 'c', 'c'].map((id) => ids.claim(id))).size).toBe(6)
})
