import { expect, test } from 'vitest'
import { until, virtualClock } from '../../../test/support/host/virtual-clock.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { EventDraft } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import { PendingResults } from './pending-results.ts'

/** A Log that keeps what each write contains, and answers as `answer` says. */
function place(answer: (drafts: readonly EventDraft[]) => Result<void> = () => ok(undefined)) {
  const writes: string[][] = []
  const clock = virtualClock()
  const pending = new PendingResults({
    clock,
    recordedText: (text) => text.replaceAll('key', '[redacted]'),
    commit: async (drafts) => {
      writes.push(drafts.map(named))
      return answer(drafts)
    },
  })
  return { writes, clock, pending }
}

function named({ type, data }: EventDraft): string {
  return type === 'tool_result' ? `${data.call_id} ${data.outcome}` : type
}

function result(call_id: string, output = ''): EventDraft<'tool_result'> {
  const data = { call_id, name: 'read', outcome: 'ok', output, duration_ms: 0 } as const
  return { type: 'tool_result', data }
}

const REQUEST = notice('next', 'the next Event')
const FULL = failed('storage_failed', 'The disk is full.')
const DEFECT = failed('internal', 'An Event does not match its schema.')

test('results wait for the next Event and are recorded before it in the same write', async () => {
  const { writes, clock, pending } = place()
  pending.add(result('a', 'the key'))
  pending.add(result('b'))
  expect([writes, pending.ahead.map(({ output }) => output)]).toEqual([[], ['the [redacted]', '']])
  expect(await pending.commit([REQUEST])).toEqual(ok(undefined))
  expect([writes, pending.ahead]).toEqual([[['a ok', 'b ok', 'notice']], []])
  expect(clock.pending()).toEqual([])
})

test('results are recorded soon, even if nothing follows', async () => {
  const { writes, clock, pending } = place()
  pending.add(result('a'))
  clock.advance(20)
  expect([writes, pending.ahead.length]).toEqual([[['a ok']], 1])
  await until(() => pending.ahead.length === 0)
  expect(await pending.commit([])).toEqual(ok(undefined))
  expect(writes).toHaveLength(1)
})

test('many long results do not wait', () => {
  const { writes, pending } = place()
  const long = 'x'.repeat(100_000)
  for (const id of ['a', 'b', 'c', 'd']) pending.add(result(id, long))
  expect(writes).toEqual([['a ok', 'b ok', 'c ok']])
})

test('a later Event does not hide that a result could not be recorded', async () => {
  const { writes, clock, pending } = place((drafts) => (drafts.length > 1 ? ok(undefined) : FULL))
  pending.add(result('a'))
  clock.advance(20)
  expect(await pending.commit([REQUEST, REQUEST])).toEqual(FULL)
  expect(writes).toEqual([['a ok'], ['notice', 'notice']])
})

test('a result that cannot be recorded is replaced, and the others are recorded', async () => {
  const bad = ({ type, data }: EventDraft) => type === 'tool_result' && data.output === 'bad'
  const { writes, pending } = place((drafts) => (drafts.some(bad) ? DEFECT : ok(undefined)))
  pending.add(result('a'))
  pending.add(result('b', 'bad'))
  expect(await pending.commit([REQUEST])).toEqual(DEFECT)
  expect(writes).toEqual([['a ok', 'b ok', 'notice'], ['a ok'], ['b ok'], ['b failed']])
})
