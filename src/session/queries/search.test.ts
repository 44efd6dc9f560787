import { expect, test } from 'vitest'
import { harnessPlace } from '../../../test/support/session/harness-place.ts'
import { sessionStarted, value } from '../../../test/support/log/story.ts'
import { createLog } from '../../log/open.ts'
import type { EventDraft } from '../../model/events/event.ts'
import { searchLog, type Match, type SearchOptions } from './search.ts'
import { sessionFold } from '../live/state.ts'

const answered = (text: string): EventDraft => ({ type: 'assistant_message', data: { text } })

function search(texts: readonly string[], options: Partial<SearchOptions>) {
  return searchEvents(texts.map(answered), options)
}

async function searchEvents(events: readonly EventDraft[], options: Partial<SearchOptions>) {
  const { parts } = await harnessPlace()
  const { place, store } = parts.log
  const session = place.ids.session()
  const keep = (bytes: Buffer, type: string) => store.put([bytes], type)
  const drafts = [sessionStarted, ...events]
  await value(await createLog(place, session, drafts, { fold: sessionFold, keep })).release()
  const found: Match[] = []
  const all = { pattern: /x/, budgetMs: 60_000, limit: 1000, ...options }
  const end = value(await searchLog(parts.log, session, all, (match) => void found.push(match)))
  return { end, found: found.map(({ seq, text, start, end: to }) => [seq, text, start, to]) }
}

test('a pattern that takes too long is aborted, and earlier matches are kept', async () => {
  const pattern = /^(a+)+$/
  const { end, found } = await search(['aa', `${'a'.repeat(200)}b`, 'aaa'], {
    pattern,
    budgetMs: 1000,
  })
  expect(found).toEqual([[1, 'aa', 0, 2]])
  expect(end).toEqual({
    foreign: false,
    isUnfinished: false,
    gaveUp: { seq: 2, why: 'timeout' },
    unread: [],
  })
})

test('a pattern that overflows the engine is aborted, too', async () => {
  const { end, found } = await search(['a', 'a'.repeat(8_000_000), 'a'], { pattern: /^(.|\s)*$/ })
  expect(found).toEqual([[1, 'a', 0, 1]])
  expect(end.gaveUp).toEqual({ seq: 2, why: 'too_complex' })
})

test('the search ends at its limit, wherever that falls', async () => {
  const { end, found } = await search(['x\nx\nx', 'x'], { limit: 2 })
  expect(found).toEqual([
    [1, 'x', 0, 1],
    [1, 'x', 0, 1],
  ])
  expect(end.gaveUp).toBe(undefined)
})

test('more than fits into memory at once is searched in order', async () => {
  const texts = Array.from({ length: 40 }, (_, at) => `${'.'.repeat(60_000)}\nx${at}`)
  const { found } = await search(texts, {})
  expect(found).toEqual(texts.map((_, at) => [at + 1, `x${at}`, 0, 1]))
})

test('what an edit changed is found in its diff', async () => {
  const data = { call_id: 'c', name: 'edit', outcome: 'ok' as const, duration_ms: 1 }
  const diff = '--- a/f\n+++ b/f\n@@ -1 +1 @@\n-sloop\n+ketch\n'
  const edited: EventDraft = { type: 'tool_result', data: { ...data, output: 'Edited f.\n', diff } }
  const { found } = await searchEvents([edited], { pattern: /sloop/ })
  expect(found).toEqual([[1, '-sloop', 1, 6]])
})
