import { expect, test } from 'vitest'
import { sampleDescriptor, wholeEvents } from '../../../test/support/history/sample-resources.ts'
import type { EventDraft } from '../../model/events/event.ts'
import { TurnId } from '../../model/ids.ts'
import { resourcesOf, sinceLastTurn, turnNotices } from './turn-notices.ts'

const [FIRST, SUMMARY, SECOND] = ['1', '2', '3'].map((n) =>
  TurnId.parse(`trn_01kg8m2q3r4s5t6v7w8x9y0z1${n}`),
)
const usage_total = { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0, calls: 0 }
const image = sampleDescriptor('@img7', { name: 'harbour.png' })

const start = (turn_id: TurnId | undefined, purpose?: 'summary'): EventDraft => ({
  type: 'turn_started',
  ...(turn_id === undefined ? {} : { turn_id }),
  data: { source: { presenter: 'cli' }, ...(purpose === undefined ? {} : { purpose }) },
})
const end = (turn_id: TurnId | undefined): EventDraft => ({
  type: 'turn_ended',
  ...(turn_id === undefined ? {} : { turn_id }),
  data: { status: 'completed', usage_total },
})
const notice = (code: string, turn_id?: TurnId): EventDraft => ({
  type: 'notice',
  ...(turn_id === undefined ? {} : { turn_id }),
  data: { code, text: code },
})
const codes = (events: readonly EventDraft[], turn: TurnId | undefined) =>
  turnNotices(wholeEvents(events), turn ?? '').map(({ code }) => code)

test('what was recorded between two Turns is reported with the next one, and only there', () => {
  const events = [
    notice('wide_workspace'),
    start(FIRST),
    notice('retry', FIRST),
    end(FIRST),
    notice('not_vouched'),
    start(SECOND),
    notice('head_not_written'),
    end(SECOND),
    notice('surface_changed'),
  ]
  expect(codes(events, FIRST)).toEqual(['wide_workspace', 'retry'])
  expect(codes(events, SECOND)).toEqual(['not_vouched', 'head_not_written'])
})

test('a Turn that only summarises hides nothing from the next one', () => {
  const events = [
    start(FIRST),
    end(FIRST),
    notice('not_vouched'),
    start(SUMMARY, 'summary'),
    end(SUMMARY),
    start(SECOND),
    end(SECOND),
  ]
  expect(codes(events, SECOND)).toEqual(['not_vouched'])
})

test('what a person did between two Turns was answered there', () => {
  const undone: EventDraft = {
    type: 'resource_dropped',
    data: { resource_id: image.resource_id, by: 'person' },
  }
  expect(codes([undone, start(FIRST), end(FIRST)], FIRST)).toEqual([])
})

test('a Resource is named, also if an earlier Turn attached it', () => {
  const attached: EventDraft = {
    type: 'user_message',
    ...(FIRST === undefined ? {} : { turn_id: FIRST }),
    data: { text: 'Look.', prompt_mode: 'blocks', resources: [image] },
  }
  const retired: EventDraft = {
    type: 'resource_retired',
    ...(SECOND === undefined ? {} : { turn_id: SECOND }),
    data: { resource_id: image.resource_id, why: 'cost' },
  }
  const events = [start(FIRST), attached, end(FIRST), start(SECOND), retired, end(SECOND)]
  expect(turnNotices(wholeEvents(events), SECOND ?? '')).toEqual([
    {
      code: 'resource_retired',
      text: '@img7 harbour.png is no longer sent: sending it again would cost more than it saves.',
    },
  ])
})

test('a stream that starts in the middle knows what its Turn has to tell', () => {
  const events = wholeEvents([
    start(FIRST),
    end(FIRST),
    notice('not_vouched'),
    start(SECOND),
    notice('retry', SECOND),
    end(SECOND),
  ])
  expect(sinceLastTurn(events, 5).map(({ seq }) => seq)).toEqual([2, 3, 4])
  expect(turnNotices(sinceLastTurn(events, 6), SECOND ?? '')).toEqual([])
  expect(turnNotices(sinceLastTurn(events, 5), SECOND ?? '').map(({ code }) => code)).toEqual([
    'not_vouched',
    'retry',
  ])
})

test('Resources are found while the Events of a Session grow, and after they were replaced', () => {
  const attach = (handle: string): EventDraft => ({
    type: 'user_message',
    data: { text: '', prompt_mode: 'blocks', resources: [sampleDescriptor(handle)] },
  })
  let events = wholeEvents([attach('@img1')])
  const resourceOf = resourcesOf(() => events)
  const found = (handle: string) => resourceOf(sampleDescriptor(handle).resource_id)?.handle
  expect([found('@img1'), found('@img2')]).toEqual(['@img1', undefined])
  events.push(...wholeEvents([attach('@img2')]))
  expect([found('@img1'), found('@img2')]).toEqual(['@img1', '@img2'])
  events = wholeEvents([attach('@img3')])
  expect([found('@img1'), found('@img3')]).toEqual([undefined, '@img3'])
})
