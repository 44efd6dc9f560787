import { compactionWords } from '../../../history/results/notice-words.ts'
import { expect, test } from 'vitest'
import type { EventData } from '../../../model/events/event.ts'
import { compactedLines, notCompactedLines, plannedLines, undoneLines } from './compaction-lines.ts'

const COMMANDS = {
  compact: 'COMPACT',
  undo: 'UNDO',
  lookUp: 'LOOK UP',
  otherModel: 'MODEL',
  newSession: 'NEW',
}

const NOTHING = {
  pinned: 0,
  decisions: 0,
  open_tasks: 0,
  resources: 0,
  skills: 0,
  hydrations: 0,
  files_touched: 0,
  tool_outcomes: 0,
}

const SUMMARY: EventData<'history_compaction'> = {
  trigger: 'manual',
  strategy: 'excerpts',
  range: { from_seq: 0, to_seq: 41 },
  tail: { from_seq: 42, turns: 1, tokens: 900 },
  tokens_before: 12_345,
  tokens_after: 3_456,
}

const ELISION: EventData<'history_compaction'> = {
  trigger: 'manual',
  strategy: 'elide',
  tail: { from_seq: 0, turns: 4, tokens: 900 },
  elided: { before_seq: 30, over_bytes: 1_024 },
  tokens_before: 12_345,
  tokens_after: 3_456,
}

test('a summary is described by what it replaces, keeps and hides', () => {
  const plan = {
    compactable: true,
    data: SUMMARY,
    target: 5_000,
    lost: { turns: 4, outputs: 1, output_bytes: 2_048, skills: ['tides\u001b'] },
    kept: { ...NOTHING, turns: 1, pinned: 2, decisions: 1, resources: 3, tool_outcomes: 18 },
  } as const
  expect(compactedLines(plan, COMMANDS)).toEqual([
    'Compacted: a summary replaces Events 0 to 41.',
    'The next request has about 3,456 tokens instead of 12,345.',
    'The model still sees:',
    '  the last Turn in full',
    '  excerpts of the earlier Turns, as far as they fit',
    '  verbatim: 2 pinned texts, 1 decision of yours',
    '  by name: 3 Resources',
    '  how 18 tool calls ended, without the output',
    'The model no longer sees:',
    '  the full text of 4 Turns',
    '  1 long tool output (2.0 KiB), unless it looks it up',
    '  the text of Skills: tides\\u{1b}',
    'The Log keeps everything.',
    'To search it: LOOK UP',
    'To undo the compaction: UNDO',
  ])
  expect(
    plannedLines({ plan, request_bytes: { before: 40_960, after: 10_240 } }, COMMANDS),
  ).toEqual([
    'Dry run: nothing was written.',
    'A summary would replace Events 0 to 41.',
    'The next request would have about 3,456 tokens instead of 12,345',
    '(10.0 KiB instead of 40.0 KiB, without your message).',
    'The model would still see:',
    '  the last Turn in full',
    '  excerpts of the earlier Turns, as far as they fit',
    '  verbatim: 2 pinned texts, 1 decision of yours',
    '  by name: 3 Resources',
    '  how 18 tool calls ended, without the output',
    'The model would no longer see:',
    '  the full text of 4 Turns',
    '  1 long tool output (2.0 KiB), unless it looks it up',
    '  the text of Skills: tides\\u{1b}',
    'The Log would keep everything.',
    'To compact: COMPACT',
  ])
})

test('a compaction that only elides says that nothing else changes', () => {
  const plan = {
    compactable: true,
    data: ELISION,
    target: 5_000,
    lost: { turns: 0, outputs: 3, output_bytes: 90_112, skills: [] },
    kept: { ...NOTHING, turns: 4 },
  } as const
  expect(compactedLines(plan, COMMANDS).slice(0, 6)).toEqual([
    'Compacted: pointers replace 3 long tool outputs (88.0 KiB).',
    'The next request has about 3,456 tokens instead of 12,345.',
    'The model still sees:',
    '  everything else, as before',
    'The model no longer sees:',
    '  3 long tool outputs (88.0 KiB), unless it looks them up',
  ])
})

test.each([
  ['nothing_to_compact', 12_000, 'Continue the Session, and compact it when it is longer.'],
  ['target_not_reached', 8_000, 'Or start a new Session: NEW'],
  ['state_too_large', 8_000, 'message, then compact again.'],
] as const)('%s is explained with figures and a next step', (reason, tokens_least, last) => {
  const figures = { tokens_before: 12_345, target: 6_000, tokens_least }
  const lines = notCompactedLines({ compactable: false, reason, ...figures }, COMMANDS)
  expect(lines.at(-1)).toBe(last)
  expect(lines.join('\n')).toContain('The next request has about 12,345 tokens')
})

test('an undone compaction says what is sent again, and whether another one is left', () => {
  const range = { from_seq: 0, to_seq: 41 }
  expect(undoneLines({ range, surface_restored: true, in_force: 1 }, COMMANDS)).toEqual([
    'Undid the last compaction: its summary no longer replaces Events 0 to 41.',
    'The instructions and tools from before it are restored, too.',
    'An earlier compaction is still in force. To undo it: UNDO',
  ])
  expect(undoneLines({ range: undefined, surface_restored: false, in_force: 2 }, COMMANDS)).toEqual(
    [
      'Undid the last compaction: its tool outputs are sent in full again.',
      '2 earlier compactions are still in force. To undo the last one: UNDO',
    ],
  )
})

test('an Event is one line', () => {
  expect([compactionWords(SUMMARY), compactionWords(ELISION)]).toEqual([
    'a summary replaces Events 0 to 41; about 12,345 tokens became 3,456',
    'pointers replace long tool outputs before Event 30; about 12,345 tokens became 3,456',
  ])
})
