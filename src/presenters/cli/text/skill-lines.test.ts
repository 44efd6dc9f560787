import { expect, test } from 'vitest'
import type { EventData } from '../../../model/events/event.ts'
import { EventId } from '../../../model/ids.ts'
import { argumentWords } from '../../../history/results/notice-words.ts'
import { activationWords, hydrationLine } from './skill-lines.ts'

const SHA256 = 'ab'.repeat(32)

const FETCHED: EventData<'skill_context_hydration'> = {
  skill: { name: 'review', content_sha256: SHA256 },
  activation_event_id: EventId.parse('evt_01kg8m2q3r4s5t6v7w8x9y0z12'),
  context_source_id: 'changes',
  produced_by: { kind: 'command', name: 'git', args: ['diff', 'a b'] },
  permission: { mode: 'ask', decision: 'allowed', explicit: true },
  invoked_by: 'person',
  status: 'ok',
  output: 'the hydrated text',
  output_sha256: SHA256,
  output_bytes: 17,
  duration_ms: 1,
}

test.each<[string, Partial<typeof FETCHED>, string]>([
  ['a command', {}, 'ok, 17 bytes ("git" "diff" "a b", requested by you)'],
  [
    'a command with limitations',
    { limitations: ['The command ran without a sandbox.'] },
    'ok, 17 bytes ("git" "diff" "a b", requested by you). The command ran without a sandbox.',
  ],
  [
    'cut output',
    {
      truncated: true,
      whole_bytes: 90_000,
      handle: '@txt3',
      invalid_bytes_replaced: 1,
      invoked_by: 'model',
    },
    'ok, 17 bytes, truncated from 87.9 KiB, @txt3, 1 invalid byte replaced ("git" "diff" "a b", requested by the model)',
  ],
  [
    'a file',
    { produced_by: { kind: 'file', name: 'docs/a\u001b[2J.md', args: null }, invoked_by: 'auto' },
    String.raw`ok, 17 bytes (file docs/a\u{1b}[2J.md, automatic)`,
  ],
  [
    'a denied source',
    {
      status: 'denied',
      output: '',
      output_bytes: 0,
      invoked_by: 'presenter',
      error: { kind: 'hydration_denied', message: 'Not permitted: this Session is read-only.' },
    },
    'denied ("git" "diff" "a b", requested with the message): Not permitted: this Session is read-only.',
  ],
])('[SH-029] %s is one line, without the text', (_, more, expected) => {
  expect(hydrationLine({ ...FETCHED, ...more })).toBe(
    `Context changes of Skill review: ${expected}`,
  )
})

test('an activation is one line with whose Skill it is', () => {
  const data = {
    name: 'review',
    args: 'the\nlast "one"',
    source: '<repo>/.agents/skills',
    path: 'review/SKILL.md',
    content_sha256: SHA256,
    blob: `${SHA256}.md`,
    trust: 'trusted',
    activated_by: 'user',
  } as EventData<'skill_activation'>
  expect(activationWords(data)).toBe(
    String.raw`Skill review activated by you, with "the\nlast \"one\"" (trusted, <repo>/.agents/skills)`,
  )
  expect(activationWords({ ...data, args: '', activated_by: 'model', trust: 'user' })).toBe(
    'Skill review activated by the model (user, <repo>/.agents/skills)',
  )
})

test('each argument of a vector is quoted, whatever is in it', () => {
  expect(argumentWords(['a', '; rm -rf ~', '"', ''])).toBe(String.raw`"a" "; rm -rf ~" "\"" ""`)
})
