import { expect, test } from 'vitest'
import {
  appended,
  compacted,
  PLAN_SURFACE,
  planned,
  talk,
  turnDrafts,
  writtenSession,
} from '../../test/support/pressure/planned-session.ts'
import { sampleDescriptor } from '../../test/support/history/sample-resources.ts'
import { sampleEvents } from '../../test/support/history/sample-events.ts'
import { Conversation } from '../history/conversation.ts'
import type { EventDraft, WholeEvent } from '../model/events/event.ts'
import { Handle } from '../model/descriptor.ts'
import { EventId } from '../model/ids.ts'
import { uploadSubject } from '../model/permission-subject.ts'
import { pinnedTexts } from './carried-facts.ts'

const say = sampleEvents()

function shownText(events: readonly WholeEvent[]): string {
  const { replay } = PLAN_SURFACE.params
  return JSON.stringify(new Conversation(events, { turn: undefined, replay }).items())
}

/** Compacts as far as possible: only the checkpoint is left. */
function squeezed(events: readonly WholeEvent[]) {
  const { data } = planned(events, { target: 5_000 })
  return { data, events: compacted(events, data) }
}

function decided(more: object): EventDraft {
  const data = {
    subject: 'bash',
    args_sha256: '0'.repeat(64),
    mode: 'ask',
    decision: 'allowed',
    scope: 'once',
    by: 'person',
    ...more,
  } as const
  return { type: 'permission_decision', data }
}

const PLAN: EventDraft = {
  type: 'plan_updated',
  data: {
    entries: [
      { content: 'Moor the ship.', status: 'completed' },
      { content: 'Count the crew,\nall of it.', status: 'in_progress' },
      { content: 'Sail.', status: 'pending' },
    ],
  },
}

test('pins, decisions and open tasks of the first of ten compactions are in the last one verbatim', () => {
  const first = {
    rounds: [['x']],
    later: [
      decided({ call_id: 'call_1_0_0', subject: 'read', decision: 'denied', reason: 'not now' }),
      PLAN,
    ],
    after: [
      { type: 'text_pinned', data: { text: 'Never touch\nthe anchor.', by: 'person' } },
      { type: 'session_settings', data: { permission_mode: 'auto', title: 'A title' } },
    ] satisfies EventDraft[],
  }
  let events = writtenSession([first, ...talk(9)])
  const carried = []
  for (let round = 1; round <= 10; round++) {
    const next = squeezed(events)
    carried.push(next.data.carried)
    const more = talk(9).flatMap((turn, at) => turnDrafts(turn, round * 100 + at))
    events = appended(next.events, more)
  }
  expect(carried).toHaveLength(10)
  for (const facts of carried) {
    expect(facts).toMatchObject({
      pinned: ['Never touch\nthe anchor.'],
      decisions: ['denied read "a.ts" once, because "not now"', 'set permission to "auto"'],
      open_tasks: ['Count the crew,\nall of it.', 'Sail.'],
    })
  }
  expect(shownText(events)).toContain('Never touch\\nthe anchor.')
  expect(carried.at(-1)?.counts).toMatchObject({ tool_outcomes: 1 })
})

test('a newer plan replaces the open tasks, also one without any', () => {
  const events = writtenSession([{ more: [PLAN] }, ...talk(9)])
  const done: EventDraft = { type: 'plan_updated', data: { entries: [] } }
  expect(squeezed(events).data.carried?.open_tasks).toHaveLength(2)
  const later = appended(squeezed(events).events, [
    ...turnDrafts({ more: [done] }, 90),
    ...talk(9).flatMap((turn, at) => turnDrafts(turn, 100 + at)),
  ])
  expect(squeezed(later).data.carried?.open_tasks).toEqual([])
})

test('a text that is pinned after the cut is carried, too, and only once', () => {
  const pin: EventDraft = { type: 'text_pinned', data: { text: 'Mind the tide.', by: 'person' } }
  const events = writtenSession([...talk(12), { after: [pin] }])
  const { data } = planned(events, { target: 8_000 })
  expect(data.tail.turns).toBeGreaterThan(0)
  expect(data.carried?.pinned).toEqual(['Mind the tide.'])
  const again = planned(compacted(events, data), { target: 3_500 })
  expect(again.data.carried?.pinned).toEqual(['Mind the tide.'])
})

test('a text that is no longer pinned is carried no further, wherever it was pinned', () => {
  const pin = (text: string): EventDraft => ({ type: 'text_pinned', data: { text, by: 'person' } })
  const unpin = (text: string): EventDraft => ({
    type: 'text_unpinned',
    data: { event_id: EventId.parse('evt_01kg8m2q3r4s5t6v7w8x9y0z12'), text, by: 'person' },
  })
  const events = writtenSession([
    { after: [pin('early'), pin('kept'), pin('again')] },
    ...talk(12),
    { after: [unpin('early'), unpin('again'), pin('again')] },
  ])
  const { data } = planned(events, { target: 8_000 })
  expect(data.carried?.pinned).toEqual(['kept', 'again'])
  // Its Event is before the tail, where only the checkpoint has its text.
  const later = appended(compacted(events, data), [unpin('kept')])
  expect(pinnedTexts(later)).toEqual(['again'])
})

const SKILL = say.skill_activation[0]
if (SKILL === undefined) throw new Error('no sample')
const activated = (name: string): EventDraft => ({
  type: 'skill_activation',
  data: { ...SKILL.data, name },
})

test('[PC-041] [PC-042] [PC-043] a checkpoint names the Skills that were active only before its tail, and no longer shows their text', () => {
  const events = writtenSession([
    { more: [activated('review')] },
    ...talk(12),
    { more: [activated('release')] },
  ])
  const { data, lost } = planned(events, { target: 8_000 })
  const after = compacted(events, data)
  const limitation =
    'Skills activated only in these Events are not active, and their text is not shown unless they are activated again: "review".'
  expect(data.limitations).toContain(limitation)
  expect(lost.skills).toEqual(['review'])
  expect(data.carried?.skills).toEqual([
    { name: 'review', content_sha256: SKILL.data.content_sha256 },
  ])
  const bodies = (all: readonly WholeEvent[]) =>
    shownText(all).split('"media_type":"text/markdown"').length - 1
  expect([bodies(events), bodies(after)]).toEqual([2, 1])
  expect(shownText(after)).not.toContain('Skill \\"review\\" activated')
  expect(shownText(after)).toContain('Skill \\"release\\" activated')
})

test('[SH-043] a checkpoint carries the evidence of the hydrations before its tail', () => {
  const [hydrated] = say.skill_context_hydration
  if (hydrated === undefined) throw new Error('no sample')
  const { type, data } = hydrated
  const events = writtenSession([{ more: [{ type, data }] }, ...talk(9)])
  const after = squeezed(events)
  expect(after.data.carried?.hydrations).toMatchObject([
    { context_source_id: 'diff', status: 'ok', output_sha256: data.output_sha256 },
  ])
  expect(shownText(after.events)).toContain(`sha256 ${data.output_sha256}`)
  expect(shownText(after.events)).not.toContain('+ rope')
})

test('[SR-030] Resources keep their handles and their fate, and the limitations say that a description is not the picture', () => {
  const [shown, dropped, denied] = ['@img1', '@img2', '@img3'].map((one) => sampleDescriptor(one))
  if (shown === undefined || dropped === undefined || denied === undefined) throw new Error()
  const message: EventDraft = {
    type: 'user_message',
    data: { text: 'Look.', prompt_mode: 'blocks', resources: [shown, dropped, denied] },
  }
  const events = writtenSession([
    {
      more: [message, decided({ subject: uploadSubject(denied.resource_id), decision: 'denied' })],
      after: [
        { type: 'resource_dropped', data: { resource_id: dropped.resource_id, by: 'person' } },
      ],
    },
    ...talk(9),
  ])
  const after = squeezed(events)
  expect(after.data.carried?.resources.map(({ handle, fate }) => [handle, fate])).toEqual([
    ['@img1', undefined],
    ['@img2', 'dropped'],
    ['@img3', 'denied'],
  ])
  expect(after.data.carried?.decisions).toEqual(['denied sending "@img3" once'])
  expect(after.data.limitations?.join()).toContain('is not the picture')
  const text = shownText(after.events)
  expect(text).toContain('@img1 \\"img1.png\\"; @img2 \\"img2.png\\" (dropped)')
  expect(text).not.toContain(shown.resource_id)
})

test('[SR-053] a link keeps its target, and why it has no content, through checkpoints', () => {
  const common = { source: 'acp', rehydratable: false, kind: 'link' } as const
  const remote = {
    ...common,
    resource_id: sampleDescriptor('@img1').resource_id,
    handle: Handle.parse('@link1'),
    name: 'tides',
    uri: 'https://example.com/tides',
  }
  const local = {
    ...common,
    resource_id: sampleDescriptor('@img2').resource_id,
    handle: Handle.parse('@link2'),
    name: 'deck',
    not_copied: 'not_regular_file',
  } as const
  const message: EventDraft = {
    type: 'user_message',
    data: { text: 'Look.', prompt_mode: 'string', resources: [remote, local] },
  }
  const once = squeezed(writtenSession([{ more: [message] }, ...talk(9)]))
  const text = shownText(once.events)
  expect(text).toContain('@link1 \\"https://example.com/tides\\" (the target was not fetched)')
  expect(text).toContain('@link2 \\"deck\\" (a local file that was not copied: it is a folder')
})
