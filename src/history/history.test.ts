import { expect, test } from 'vitest'
import { generatedEvents } from '../../test/support/history/generated-requests.ts'
import type { WholeEvent } from '../model/events/event.ts'
import { Conversation } from './conversation.ts'
import { compactionsInForce, historyOf } from './history.ts'
import { openWatches } from './open-watch.ts'
import { providerAfter } from './provider-name.ts'
import { stateBefore } from './resume-state.ts'
import { SessionResources } from './session-resources.ts'
import { surfaceAfter } from './surface-record.ts'

const SEEDS = 60

/** Everything that later Turns read of a Session. */
function everythingIn(events: readonly WholeEvent[]) {
  const turn = events.findLast(({ type }) => type === 'turn_started')?.turn_id
  const next = (events.at(-1)?.seq ?? 0) + 1
  const { checkpoint, state, elisions, events: raw } = historyOf(events)
  const resources = new SessionResources(events)
  return {
    history: [checkpoint, state, elisions, raw],
    items: new Conversation(events, { turn, replay: 'window' }).items(),
    resources: [resources.all, resources.last],
    watches: openWatches(events),
    provider: providerAfter(events),
    surface: surfaceAfter(events),
    state: stateBefore(events, next),
  }
}

test('a History is the same for all Events of a Log and for those from the tail of its checkpoint on', async () => {
  let checkpoints = 0
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const all = await generatedEvents(seed)
    for (const [at, { type }] of all.entries()) {
      if (type !== 'history_compaction' && type !== 'turn_ended') continue
      const events = all.slice(0, at + 1)
      const { checkpoint } = historyOf(events)
      if (checkpoint === undefined) continue
      checkpoints += 1
      const tail = events.filter(({ seq }) => seq >= checkpoint.data.tail.from_seq)
      expect(everythingIn(tail)).toEqual(everythingIn(events))
    }
  }
  expect(checkpoints).toBeGreaterThan(SEEDS / 2)
})

test('an undone compaction is not in force, and the one before it is again', async () => {
  let undone = 0
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const all = await generatedEvents(seed)
    for (const [at, event] of all.entries()) {
      if (event.type !== 'compaction_undone') continue
      undone += 1
      const before = compactionsInForce(all.slice(0, at)).map(({ id }) => id)
      const after = compactionsInForce(all.slice(0, at + 1)).map(({ id }) => id)
      expect(after).toEqual(before.filter((id) => id !== event.data.compaction_event_id))
    }
  }
  expect(undone).toBeGreaterThan(0)
})

test('a checkpoint whose range does not end before its tail is never in force', async () => {
  const all = await withCheckpoint()
  const at = all.findIndex(({ type }) => type === 'history_compaction')
  const event = all[at]
  if (event?.type !== 'history_compaction' || event.data.range === undefined) expect.fail('none')
  const { range, tail } = event.data
  for (const wrong of [
    { tail: { ...tail, from_seq: event.seq + 1 } },
    { range: { ...range, to_seq: range.to_seq - 1 } },
    { range: { from_seq: range.to_seq + 1, to_seq: range.to_seq } },
  ]) {
    const forged = { ...event, data: { ...event.data, ...wrong } }
    const events = [...all.slice(0, at), forged]
    expect(historyOf(events)).toMatchObject({ checkpoint: undefined, events })
  }
})

async function withCheckpoint(): Promise<readonly WholeEvent[]> {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const all = await generatedEvents(seed)
    const first = all.find(({ type }) => type === 'history_compaction')
    if (first?.type === 'history_compaction' && first.data.range !== undefined) return all
  }
  return expect.fail('no generated Log has a checkpoint')
}
