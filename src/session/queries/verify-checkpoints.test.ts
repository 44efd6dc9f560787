import { expect, test } from 'vitest'
import { generatedEvents } from '../../../test/support/history/generated-requests.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import { verifyCheckpoints } from './verify-checkpoints.ts'

/** The names of all fields that differ, apart from the position of the tail, which a generated Log does not have. */
function differing(events: readonly WholeEvent[]): string[] {
  const names = verifyCheckpoints(events, new Map()).flatMap(({ recorded, recomposed }) =>
    Object.keys({ ...recorded, ...recomposed }),
  )
  return names.filter((name) => name !== 'tail.from_prev')
}

test('a checkpoint that omits or adds a message key is reported', async () => {
  let keyed = 0
  for (let seed = 1; seed <= 40; seed += 1) {
    const events = await generatedEvents(seed)
    expect(differing(events)).toEqual([])
    const at = events.findLastIndex((event) => event.type === 'history_compaction')
    const event = events[at]
    const state = event?.type === 'history_compaction' ? event.data.state : undefined
    if (event?.type !== 'history_compaction' || state?.message_keys === undefined) continue
    keyed += 1
    const { newest } = state.message_keys
    for (const lie of [newest.slice(1), [...newest, 'a'.repeat(16)]]) {
      const forged = { ...state, message_keys: { newest: lie } }
      const lying = { ...event, data: { ...event.data, state: forged } }
      expect(differing(events.with(at, lying))).toEqual(['state.message_keys'])
    }
  }
  expect(keyed).toBeGreaterThan(10)
})
