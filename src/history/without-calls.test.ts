import { expect, test } from 'vitest'
import { generatedEvents } from '../../test/support/history/generated-requests.ts'
import type { WholeEvent } from '../model/events/event.ts'
import { transientsAt } from './transients.ts'
import { eventsBefore, withoutCalls } from './without-calls.ts'

const SEEDS = 20
const OF_A_CALL = new Set<string>([
  'provider_request',
  'provider_usage',
  'assistant_message',
  'reasoning',
  'tool_call',
  'tool_result',
])

function filtered(events: readonly WholeEvent[]): readonly WholeEvent[] {
  return events.filter(({ type }) => !OF_A_CALL.has(type))
}

test('the Events outside calls are the same however a list grew', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const growing: WholeEvent[] = []
    for (const event of await generatedEvents(seed)) {
      growing.push(event)
      expect(withoutCalls(growing)).toEqual(filtered(growing))
    }
    for (const at of growing.keys()) {
      const before = eventsBefore(growing, at)
      expect(before).toEqual(growing.slice(0, at))
      expect(withoutCalls(before)).toEqual(filtered(before))
    }
  }
})

test('a list that became shorter, or another list, is read again', async () => {
  const events = [...(await generatedEvents(1))]
  expect(withoutCalls(events)).toEqual(filtered(events))
  events.splice(events.length / 2)
  expect(withoutCalls(events)).toEqual(filtered(events))
  expect(withoutCalls([])).toEqual([])
})

test('which bytes are shown is decided by the Events until then, even if it is needed later', async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const all = await generatedEvents(seed)
    const ids = all.flatMap((event) =>
      event.type === 'user_message'
        ? (event.data.resources ?? []).map(({ resource_id }) => ({ event, resource_id }))
        : [],
    )
    for (const at of all.keys()) {
      const turn = all[at]?.turn_id
      const growing = all.slice(0, at)
      const late = transientsAt(growing, turn, 'attach-turn')
      growing.push(...all.slice(at))
      const early = transientsAt(all.slice(0, at), turn, 'attach-turn')
      for (const { event, resource_id } of ids) {
        expect(late.lifetimeOf(event.turn_id, resource_id)).toBe(
          early.lifetimeOf(event.turn_id, resource_id),
        )
        expect(late.lossOf(resource_id)).toEqual(early.lossOf(resource_id))
      }
    }
  }
})
