import { expect, test } from 'vitest'
import { BreakCause, ResetReason } from '../../../model/prefix-break.ts'
import { CACHE_FINDINGS } from '../../../session/queries/cache-finding.ts'
import type { CacheSummary, ExplainedRequest } from '../../../session/queries/cache-report.ts'
import { requestLines, summaryLines } from './cache-lines.ts'
import type { Line } from '../text/cell-width.ts'

const REQUEST: ExplainedRequest = {
  seq: 4,
  turn: 1,
  call_index: 0,
  attempt: 0,
  model: 'model',
  dialect: 'messages',
  contract_version: 'hw1',
  transport: 'http-sse',
  request_bytes: 1_234_567,
  sent_bytes: 1_234_567,
  shared_prefix_bytes: 1_200_000,
  shared_ratio: 0.972,
  kept_ratio: 1,
  idle_ms: 12 * 60_000,
  usage: { input: 300_000, cached_read: 30_000, cache_write: 1234, cached_ratio: 0.1 },
}

function textOf(lines: readonly Line[]): string[] {
  return lines.map((line) => line.map(({ text }) => text).join(''))
}

/** The notes below the row. */
function notesOf(more: Partial<ExplainedRequest>): string[] {
  return textOf(requestLines({ ...REQUEST, ...more }, REQUEST))
    .slice(1)
    .map((text) => text.trim())
}

test('a request is a row of figures below the heading of its model and transport', () => {
  expect(textOf(requestLines(REQUEST))).toEqual([
    'model (messages over http-sse, contract hw1)',
    'Request            Bytes        Sent  Shared      Input  Cached    Written',
    '1.0            1,234,567   1,234,567   100 %    300,000    10 %      1,234',
  ])
})

test('the heading is repeated when model or transport change', () => {
  const again = { ...REQUEST, attempt: 1 }
  expect(textOf(requestLines(again, REQUEST))).toEqual([
    '1.0 (2)        1,234,567   1,234,567   100 %    300,000    10 %      1,234',
  ])
  const other = { ...REQUEST, transport: 'websocket' }
  expect(textOf(requestLines(other, REQUEST))[0]).toBe(
    'model (messages over websocket, contract hw1)',
  )
})

test('a request without an answer is marked', () => {
  const { usage: _usage, ...unanswered } = REQUEST
  expect(textOf(requestLines(unanswered, REQUEST))).toEqual([
    '1.0            1,234,567   1,234,567   100 %          -       -          -',
    '    no response was completed',
  ])
})

test('every cause of a break has its own description, and only an unknown one is called a bug', () => {
  const noteLines = BreakCause.options.map((cause) =>
    notesOf({ prefix_break: { at: 1234, cause } }).join('\n'),
  )
  expect(new Set(noteLines).size).toBe(BreakCause.options.length)
  expect(noteLines.every((text) => text.startsWith('prefix breaks at byte 1,234: '))).toBe(true)
  const bugs = BreakCause.options.filter((_, at) => noteLines[at]?.includes('bug'))
  expect(bugs).toEqual(['unknown'])
})

test('a request that shares nothing says so instead of a position', () => {
  expect(notesOf({ prefix_break: { at: 0, cause: 'model' } })).toEqual([
    'shares nothing with the previous request: the model changed',
  ])
})

test('a finding compares the shared with the cached share and gives the reason', () => {
  expect(notesOf({ finding: 'cold' })).toEqual([
    "97 % of its bytes were sent before, but 10 % of tokens were cached: the provider's cache was cold (12 min since the last call)",
  ])
  expect(notesOf({ finding: 'cold', idle_ms: 7 * 3_600_000 })[0]).toContain('7 h')
  const words = CACHE_FINDINGS.map((finding) => notesOf({ finding }).join('\n'))
  // A bug is reported with its break, and a provider without a cache in the last line.
  expect(words.filter((text) => text === '')).toHaveLength(2)
  expect(new Set(words).size).toBe(CACHE_FINDINGS.length - 1)
})

test('a continuation is shown as used, or with the reason why not', () => {
  const not = (reset_reason?: string) =>
    notesOf({
      continuation: { used: false, ...(reset_reason === undefined ? {} : { reset_reason }) },
    })
  expect(notesOf({ continuation: { used: true } })).toEqual(['continued: only new items were sent'])
  expect(not('reconnected')).toEqual(['sent in full: the connection is new'])
  expect(not('constructor')).toEqual(['sent in full: constructor'])
  expect(not()).toEqual(['sent in full: no reason recorded'])
  const noteLines = ResetReason.options.map((reason) => not(reason).join('\n'))
  expect(new Set(noteLines).size).toBe(ResetReason.options.length)
})

const SUMMARY: CacheSummary = {
  requests: 3,
  answered: 3,
  after_first: { input: 20_000, cached_read: 19_000, cache_write: 0, cached_ratio: 0.95 },
  request_bytes: 90_000,
  sent_bytes: 90_000,
  continued: 0,
  breaks: {},
  findings: {},
}

test('the summary is one line, and more if there is more to report', () => {
  expect(textOf(summaryLines(SUMMARY))).toEqual([
    '3 requests; after the first call 95 % of the tokens were cached: 19,000 of 20,000.',
  ])
  const more = { ...SUMMARY, continued: 2, sent_bytes: 4000, findings: { no_cache: 2 } }
  expect(textOf(summaryLines(more)).slice(1)).toEqual([
    '2 continued on a socket: 4,000 of 90,000 bytes were sent.',
    'The offline demo model has no cache.',
  ])
  expect(textOf(summaryLines({ ...SUMMARY, requests: 1, answered: 1 }))).toEqual([
    '1 request; caching is visible from the second response on.',
  ])
  expect(textOf(summaryLines({ ...SUMMARY, requests: 0 }))).toEqual(['No request was sent.'])
})
