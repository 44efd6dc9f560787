import { expect, test } from 'vitest'
import { sampleDescriptor, wholeEvents } from '../../test/support/history/sample-resources.ts'
import type { EventDraft } from '../model/events/event.ts'
import { TurnId } from '../model/ids.ts'
import { uploadSubject } from '../model/permission-subject.ts'
import { stateBefore, stateFits, STATE_BYTES } from './resume-state.ts'

const turn_id = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')

test('the state of any number of Resources, calls, keys and notices fits, with the newest of them', () => {
  const drafts = Array.from({ length: 2_000 }, (_, n): EventDraft[] => [
    {
      type: 'turn_started',
      turn_id,
      data: { source: { presenter: 'test', message_key: `key ${n}` } },
    },
    {
      type: 'user_message',
      turn_id,
      data: { text: '', prompt_mode: 'blocks', resources: [sampleDescriptor(`@img${n + 1}`)] },
    },
    { type: 'tool_call', turn_id, data: { call_id: `call_${n}`, name: 'read', arguments: '{}' } },
    { type: 'notice', turn_id, data: { code: 'resource_reduced', text: `Smaller: ${n}.` } },
  ]).flat()
  const state = stateBefore(wholeEvents(drafts), drafts.length)
  expect(stateFits(state)).toBe(true)
  expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThanOrEqual(STATE_BYTES)
  expect([state.turns, state.handle_counter, state.resources_count]).toEqual([2_000, 2_000, 2_000])
  expect(state.resources.length).toBeGreaterThan(20)
  expect(state.resources.at(-1)?.descriptor.handle).toBe('@img2000')
  expect(state.notices.at(-1)).toBe('Smaller: 1999.')
  expect(state.message_keys?.newest).toHaveLength(256)
})

test('the state names the fate of each Resource', () => {
  const [shown, denied, withheld, dropped] = [1, 2, 3, 4].map((n) => sampleDescriptor(`@img${n}`))
  if (
    shown === undefined ||
    denied === undefined ||
    withheld === undefined ||
    dropped === undefined
  )
    expect.fail('no samples')
  const message: EventDraft = {
    type: 'user_message',
    turn_id,
    data: { text: '', prompt_mode: 'blocks', resources: [shown, denied, withheld, dropped] },
  }
  const decision: EventDraft = {
    type: 'permission_decision',
    turn_id,
    data: {
      subject: uploadSubject(denied.resource_id),
      args_sha256: 'a'.repeat(64),
      mode: 'ask',
      decision: 'denied',
      scope: 'once',
      by: 'person',
    },
  }
  const state = stateBefore(
    wholeEvents([
      message,
      decision,
      { type: 'resource_retired', data: { resource_id: withheld.resource_id, why: 'too_large' } },
      { type: 'resource_retired', data: { resource_id: shown.resource_id, why: 'cost' } },
      { type: 'resource_dropped', data: { resource_id: dropped.resource_id, by: 'person' } },
    ]),
    5,
  )
  expect(state.resources.map(({ fate }) => fate)).toEqual([
    undefined,
    'denied',
    'withheld',
    'dropped',
  ])
})
