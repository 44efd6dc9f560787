import { expect, test } from 'vitest'
import { wholeEvents } from '../../../../../test/support/history/sample-resources.ts'
import type { EventDraft } from '../../../../model/events/event.ts'
import { TIER_PERCENT } from '../../../../model/limits.ts'
import { contextRows } from './context-command.ts'
import { fullness } from '../posture.ts'

const FACTS = {
  model: 'a-model',
  limits: TIER_PERCENT,
  request_bytes: 700_000,
  parts: [
    { part: 'tool results', bytes: 600_000 },
    { part: 'your messages', bytes: 2_000 },
  ],
  largest: [{ what: 'result of read notes.txt', turn: 3, bytes: 51_200 }],
  instructions: [],
} as const

test('how full the window is, by record and by estimate, and with what', () => {
  const lines = shown({
    ...FACTS,
    window_tokens: 200_000,
    recorded: { tokens: 166_200, ratio: 0.831, tier: 'warning' },
    next: { tokens: 139_998, ratio: 0.69999, tier: 'none' },
  })
  expect(lines).toEqual([
    'a-model has a context window of 200,000 tokens.',
    `${'█'.repeat(35)}${'░'.repeat(15)}`,
    'Last call: 166,200 tokens, 83.1 % of the window (warning).',
    'Next request, without your message, by estimate: 139,998 tokens, 69.9 % of the window.',
    '',
    '  tool results   585.9 KiB  86 %  █████████████████',
    '  your messages    2.0 KiB   0 %',
    '  in all         683.6 KiB',
    '',
    'Largest: result of read notes.txt (Turn 3, 50.0 KiB).',
    'Notices from 70 % and 80 %; compacted above 90 %. To preview a compaction: /compact dry-run',
  ])
})

test('the project instructions that apply are listed with their state', () => {
  const lines = shown({
    ...FACTS,
    next: { tokens: 1 },
    instructions: [
      { path: '$HAWSER_HOME/AGENTS.md', bytes: 10, state: 'loaded' },
      { path: 'AGENTS.md', bytes: 2_048, state: 'named', why: 'untrusted' },
      { path: 'a\u001b[2J/AGENTS.md', state: 'refused', why: 'link' },
    ],
  })
  expect(lines).toContain(
    'Project instructions: $HAWSER_HOME/AGENTS.md (10 bytes, loaded); AGENTS.md (2.0 KiB, named, not loaded because it is untrusted); a\\u{1b}[2J/AGENTS.md (refused, a symbolic link).',
  )
})

test('an unknown window is unavailable, never guessed', () => {
  const lines = shown({ ...FACTS, largest: [], next: { tokens: 175_000 } })
  expect(lines.slice(0, 3)).toEqual([
    'The context window of a-model is unknown, so its pressure is unavailable.',
    'No call was made since the Session started or was compacted.',
    'Next request, without your message, by estimate: 175,000 tokens.',
  ])
  expect(lines.slice(0, 3).join()).not.toContain('%')
  expect(lines.join()).not.toContain('░')
})

function shown(facts: Parameters<typeof contextRows>[0]): string[] {
  return contextRows(facts, 1_000).map((row) =>
    row
      .map(({ text }) => text)
      .join('')
      .trimEnd(),
  )
}

function usage(
  pressure: 'unavailable' | { tier: 'advisory'; ratio: number; window_tokens: number },
) {
  const tokens = { input: 1, cached_read: 0, cache_write: 0, output: 1, reasoning: 0 }
  const data = { call_index: 0, usage: tokens, latency_ms: 1, pressure, stop_reason: 'end' }
  return { type: 'provider_usage', data } as const satisfies EventDraft
}

test('the status line shows how full the window was at the last call', () => {
  expect(fullness({ events: [] })).toEqual([])
  expect(fullness({ events: wholeEvents([usage('unavailable')]) })).toEqual([])
  const advisory = { tier: 'advisory', ratio: 0.7777, window_tokens: 9 } as const
  const events = wholeEvents([usage('unavailable'), usage(advisory)])
  expect(fullness({ events })).toEqual(['77.7 % of the window (advisory)'])
})
