import { expect, test } from 'vitest'
import { wholeEvents } from '../../test/support/history/sample-resources.ts'
import type { EventDraft } from '../model/events/event.ts'
import { TurnId } from '../model/ids.ts'
import { TurnFilter } from './turn-filter.ts'

const FIRST = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')
const SECOND = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z13')
const EVENTS = wholeEvents(
  [FIRST, SECOND].flatMap((turn_id): EventDraft[] => [
    { type: 'turn_started', turn_id, data: { source: { presenter: 'cli' } } },
    { type: 'assistant_message', turn_id, data: { text: 'Hello.' } },
  ]),
)

function passing(named: string | undefined) {
  const filter = TurnFilter.of(named)
  if (!filter.ok) return filter.error.kind
  const seqs = EVENTS.filter((event) => filter.value.take(event)).map(({ seq }) => seq)
  return { seqs, missing: filter.value.missing }
}

test('a Turn is selected by its id or its number; without a selection every Event passes', () => {
  expect(passing(undefined)).toEqual({ seqs: [0, 1, 2, 3], missing: undefined })
  expect(passing('2')).toEqual({ seqs: [2, 3], missing: undefined })
  expect(passing(FIRST)).toEqual({ seqs: [0, 1], missing: undefined })
})

test('an unknown Turn is reported with the number of Turns', () => {
  expect(passing('3')).toEqual({ seqs: [], missing: { turns: 2 } })
  expect(passing('first')).toBe('invalid_args')
})
