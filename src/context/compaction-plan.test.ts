import { expect, test } from 'vitest'
import {
  compacted,
  plan,
  PLAN_SURFACE,
  planned,
  talk,
  turnDrafts,
  writtenSession,
  writtenTurn,
  type WrittenTurn,
} from '../../test/support/pressure/planned-session.ts'
import { sampleDescriptor, wholeEvents } from '../../test/support/history/sample-resources.ts'
import { historyOf } from '../history/history.ts'
import { STATE_BYTES, stateBefore } from '../history/resume-state.ts'
import type { EventDraft, WholeEvent } from '../model/events/event.ts'
import { utf8Bytes } from '../model/shape.ts'
import { CARRIED_BYTES } from './carried-facts.ts'
import type { PlanOptions } from './compaction-plan.ts'
import { requestBytes, sizedItems, sumOf, tokensOf, tokensPerByte } from './token-estimate.ts'

const LONG = 'line of a file\n'.repeat(600)

test('long outputs become pointers, the oldest first and no more than needed, before anything is summarised', () => {
  const events = writtenSession([
    { rounds: [[LONG], [LONG]] },
    { rounds: [['short'], [LONG], [LONG]] },
  ])
  const results = events.filter(({ type }) => type === 'tool_result')
  const { data, lost, target } = planned(events, { target: 7_000 })
  expect(data).toMatchObject({
    strategy: 'elide',
    tail: { from_seq: 0, turns: 2 },
    elided: { before_seq: (results[1]?.seq ?? 0) + 1, over_bytes: 1024 },
  })
  expect(Object.keys(data)).not.toEqual(expect.arrayContaining(['range', 'state', 'carried']))
  expect(lost).toEqual({ turns: 0, outputs: 2, output_bytes: 2 * utf8Bytes(LONG), skills: [] })
  expect(data.tokens_after).toBeLessThanOrEqual(target)
})

test('the last round of the last Turn never becomes a pointer', () => {
  const events = writtenSession([{ rounds: [[LONG], [LONG, LONG, LONG]] }])
  const { data } = planned(events)
  expect(data.range?.to_seq).toBe(events.length - 1)
  const open = writtenSession([{ rounds: [[LONG], [LONG, LONG, LONG]], open: true }])
  const found = plan(open, { active: writtenTurn(1), target: 3_000 })
  expect(found).toMatchObject({ compactable: false, reason: 'target_not_reached' })
})

test('in the running Turn only completed outputs become pointers, and the summary covers earlier Turns only', () => {
  const turns = [...talk(6, 20_000), { rounds: [[LONG], [LONG], [LONG]], open: true }]
  const events = writtenSession(turns)
  const start = events.findLast(({ type }) => type === 'turn_started')?.seq ?? 0
  const results = events.filter(({ type }) => type === 'tool_result').map(({ seq }) => seq)
  const { data } = planned(events, { active: writtenTurn(7), target: 6_000 })
  expect(data.tail).toMatchObject({ from_seq: start, turns: 1 })
  expect(data.elided?.before_seq).toBeGreaterThan(results[0] ?? 0)
  expect(data.elided?.before_seq).toBeLessThanOrEqual(results[2] ?? 0)
})

test('a summary replaces what is before a Turn, and the tail shrinks until the plan fits', () => {
  const events = writtenSession(talk(40))
  const starts = events.filter(({ type }) => type === 'turn_started').map(({ seq }) => seq)
  const sizes = [30_000, 15_000, 8_000, 5_000, 3_500].map((target) => {
    const { data } = planned(events, { target })
    const { from_seq } = data.tail
    expect([...starts, events.length]).toContain(from_seq)
    expect(data.range).toEqual({ from_seq: 0, to_seq: from_seq - 1 })
    expect(data.state).toEqual(stateBefore(events, from_seq))
    expect(data.tokens_after).toBeLessThanOrEqual(target)
    return data.tail.turns
  })
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
  expect(new Set(sizes).size).toBeGreaterThan(3)
})

test('a tail keeps Turns with long outputs, which become pointers as far as needed', () => {
  const events = writtenSession([
    ...talk(20),
    ...Array.from({ length: 4 }, () => ({ rounds: [[LONG], [LONG], ['x']] })),
  ])
  const { data } = planned(events, { target: 13_000 })
  expect(data.tail.turns).toBeGreaterThanOrEqual(4)
  const { elided } = data
  const results = events.filter(({ type }) => type === 'tool_result').map(({ seq }) => seq)
  const pointers = results.filter((seq) => seq < (elided?.before_seq ?? 0))
  expect(pointers.length).toBeGreaterThan(0)
  expect(pointers.length).toBeLessThan(results.length)
  expect(data.tokens_after).toBeLessThanOrEqual(13_000)
})

test('the figures of a plan are those of the request after it', () => {
  const events = writtenSession([...talk(10), { rounds: [[LONG], [LONG]] }, ...talk(2)])
  for (const target of [undefined, 9_000, 6_000, 3_000]) {
    const { data } = planned(events, { target })
    const perByte = tokensPerByte(events)
    const of = (all: readonly WholeEvent[]) =>
      tokensOf(requestBytes(all, { surface: PLAN_SURFACE }), perByte)
    expect(data.tokens_before).toBe(of(events))
    const after = compacted(events, data)
    expect(data.tokens_after).toBe(of(after))
    const head = historyOf(after).checkpoint?.seq
    const items = sizedItems(after, { surface: PLAN_SURFACE })
    const tail = items.filter(({ item }) => item.seq !== head)
    expect(data.tail.tokens).toBe(tokensOf(sumOf(tail), perByte))
  }
})

test('what is a pointer stays one in the tail of a later checkpoint', () => {
  const events = writtenSession([...talk(12), { rounds: [[LONG], [LONG], ['x']] }, ...talk(1)])
  const alone = planned(events, { target: 14_500 }).data
  expect(alone.strategy).toBe('elide')
  const second = planned(compacted(events, alone), { target: 7_000 }).data
  expect(second.range).toBeDefined()
  expect(second.elided).toEqual(alone.elided)
})

test('nothing is planned if there is little to gain, or if the target cannot be reached', () => {
  expect(plan([])).toMatchObject({ compactable: false, reason: 'nothing_to_compact' })
  expect(plan(writtenSession([{}, {}]))).toMatchObject({
    compactable: false,
    reason: 'nothing_to_compact',
  })
  const events = writtenSession(talk(10))
  const found = plan(events, { target: 100 })
  expect(found).toMatchObject({ compactable: false, reason: 'target_not_reached', target: 100 })
  if (!found.compactable) expect(found.tokens_least).toBeLessThan(found.tokens_before)
})

test('by hand, a plan leaves half of the Conversation, and at most 40 percent of the window', () => {
  const events = writtenSession(talk(40))
  const free = planned(events)
  expect(free.data.tokens_after).toBeLessThan(free.data.tokens_before * 0.55)
  expect(planned(events, { window: 10_000 }).target).toBe(4_000)
})

test('[TI-084] [TI-085] an image counts as 2,000 characters, and its Turn can leave the tail', () => {
  const image = sampleDescriptor('@img1', { size_bytes: 9_000_000 })
  const message = (resources: readonly (typeof image)[]): EventDraft[] => [
    { type: 'turn_started', data: { source: { presenter: 'test' } }, turn_id: writtenTurn(90) },
    {
      type: 'user_message',
      data: { text: 'Look.', prompt_mode: 'blocks', resources },
      turn_id: writtenTurn(90),
    },
  ]
  const surface = { ...PLAN_SURFACE, params: { ...PLAN_SURFACE.params, replay: 'window' } as const }
  const size = (drafts: EventDraft[]) => requestBytes(wholeEvents(drafts), { surface })
  const shown = size(message([image])) - size(message([]))
  expect(shown).toBeGreaterThan(2_000)
  expect(shown).toBeLessThan(2_500)
  const events = wholeEvents([
    ...message([image]),
    ...talk(9).flatMap((one, at) => turnDrafts(one, at)),
  ])
  const { data } = planCompactionIn(events, surface)
  expect(data.carried?.resources).toEqual([
    { resource_id: image.resource_id, handle: '@img1', name: image.name },
  ])
  expect(historyOf(compacted(events, data)).events.some(({ seq }) => seq < 2)).toBe(false)
})

function planCompactionIn(events: readonly WholeEvent[], surface: PlanOptions['surface']) {
  return planned(events, { surface, target: 4_000 })
}

test('a checkpoint of a huge Session keeps its bounds', () => {
  const turns = Array.from({ length: 400 }, (_, at): WrittenTurn => {
    const data = {
      subject: 'bash',
      args_sha256: '0'.repeat(64),
      mode: 'ask',
      decision: 'denied',
      scope: 'once',
      by: 'person',
      reason: `reason ${at} ${'\u0001'.repeat(200)}`,
    } as const
    const resource = sampleDescriptor(`@img${at + 1}`, { name: `${at} ${'n'.repeat(200)}.png` })
    return {
      rounds: [[LONG], ['x']],
      more: [
        { type: 'permission_decision', data },
        { type: 'resource_ingested', data: { descriptor: resource, origin: 'tool' } },
      ],
      after: [{ type: 'text_pinned', data: { text: `pin ${at} \u0001`.repeat(9), by: 'person' } }],
    }
  })
  const { data } = planned(writtenSession(turns), { target: 40_000 })
  expect(utf8Bytes(JSON.stringify(data.carried))).toBeLessThanOrEqual(CARRIED_BYTES)
  expect(utf8Bytes(JSON.stringify(data.state))).toBeLessThanOrEqual(STATE_BYTES)
  expect(utf8Bytes(data.summary ?? '')).toBeLessThanOrEqual(8_192)
  const before = 400 - data.tail.turns
  expect(data.carried?.counts).toMatchObject({ resources: before, tool_outcomes: 2 * before })
})
