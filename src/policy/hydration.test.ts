import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Rule, type ScopedRule } from '../model/rule.ts'
import { decideHydration, type HydrationClaim } from './hydration.ts'

const MODES = ['read-only', 'ask', 'auto'] as const
const INVOKERS = ['person', 'model', 'presenter', 'auto'] as const
const KINDS = ['command', 'file', 'resource_view', 'presenter', 'tool'] as const

const made = (more: Partial<HydrationClaim> = {}): HydrationClaim => ({
  kind: 'command',
  readOnly: true,
  isTrusted: true,
  invokedBy: 'person',
  claim: {
    tool: 'hydrate_context',
    effect: 'run',
    paths: [],
    command: 'make facts',
    network: false,
  },
  ...more,
})
const rule = (answer: 'allow' | 'deny', words: readonly string[]): ScopedRule => ({
  rule: Rule.parse({ kind: 'prefix', answer, words }),
  scope: 'workspace',
})

// The answers in the modes read-only, ask and auto.
test.each([
  ['a command that only reads', { readOnly: true }, true, ['allow', 'allow', 'allow']],
  ['any other command', { readOnly: false }, true, ['deny', 'ask', 'allow']],
  [
    'a command that only reads, without a sandbox',
    { readOnly: true },
    false,
    ['deny', 'ask', 'ask'],
  ],
  ['any other command, without a sandbox', { readOnly: false }, false, ['deny', 'ask', 'ask']],
  ['a file', { kind: 'file' }, true, ['allow', 'allow', 'allow']],
  ['a file, without a sandbox', { kind: 'file' }, false, ['allow', 'allow', 'allow']],
  ['a Resource', { kind: 'resource_view' }, false, ['allow', 'allow', 'allow']],
  ['a fact', { kind: 'presenter' }, false, ['allow', 'allow', 'allow']],
  ['a tool', { kind: 'tool' }, false, ['allow', 'allow', 'allow']],
] as const)(
  '[SH-024] [SH-039] %s is decided by mode and sandbox, and never asks when automatic',
  (_, more, isConfined, answers) => {
    for (const invokedBy of INVOKERS) {
      for (const [at, mode] of MODES.entries()) {
        const { answer } = decideHydration(made({ ...more, invokedBy }), {
          mode,
          isConfined,
          rules: [],
        })
        const unknown = 'readOnly' in more && !more.readOnly
        const automatic = answers[at] === 'allow' && isConfined && !unknown ? 'allow' : 'deny'
        expect([invokedBy, mode, answer]).toEqual([
          invokedBy,
          mode,
          invokedBy === 'auto' ? automatic : answers[at],
        ])
      }
    }
  },
)

test('a command that would destroy a repository asks in auto, and a rule that shows it permits it', () => {
  const command = made({
    readOnly: false,
    claim: { ...made().claim, command: 'git reset --hard' },
  })
  const posture = { mode: 'auto', isConfined: true, rules: [] } as const
  expect(decideHydration(command, posture)).toMatchObject({
    answer: 'ask',
    reason: expect.stringContaining('not committed'),
  })
  const rules = [rule('allow', ['git', 'reset', '--hard'])]
  expect(decideHydration(command, { ...posture, rules }).answer).toBe('allow')
})

test('rules of the person apply to commands: deny in every mode, allow where it would ask', () => {
  const answers = (rules: readonly ScopedRule[] | undefined, readOnly: boolean) =>
    MODES.map(
      (mode) => decideHydration(made({ readOnly }), { mode, isConfined: true, rules }).answer,
    )
  expect(answers([rule('deny', ['make'])], true)).toEqual(['deny', 'deny', 'deny'])
  expect(answers([rule('allow', ['make', 'facts'])], false)).toEqual(['deny', 'allow', 'allow'])
  expect(answers([rule('allow', ['make', 'other'])], false)).toEqual(['deny', 'ask', 'allow'])
  // Rules that cannot be read may deny anything.
  expect(answers(undefined, true)).toEqual(['deny', 'ask', 'ask'])
  const { by } = decideHydration(made(), {
    mode: 'auto',
    isConfined: true,
    rules: [rule('deny', ['make'])],
  })
  expect(by).toEqual([rule('deny', ['make'])])
})

test('whatever the circumstances, nothing widens: trust, the sandbox and a narrower mode only restrict', () => {
  const rank = { allow: 2, ask: 1, deny: 0 } as const
  const claim = fc.record({
    kind: fc.constantFrom(...KINDS),
    readOnly: fc.boolean(),
    trusted: fc.boolean(),
    invokedBy: fc.constantFrom(...INVOKERS),
  })
  const rules = fc.constantFrom(
    undefined,
    [],
    [rule('deny', ['make'])],
    [rule('deny', ['git'])],
    [rule('allow', ['make', 'facts'])],
  )
  fc.assert(
    fc.property(claim, fc.boolean(), rules, (some, confined, inForce) => {
      const at = (
        more: Partial<HydrationClaim>,
        mode: (typeof MODES)[number],
        sandbox = confined,
      ) =>
        rank[
          decideHydration(made({ ...some, ...more }), { mode, isConfined: sandbox, rules: inForce })
            .answer
        ]
      for (const mode of MODES) {
        expect(at({ isTrusted: false }, mode)).toBe(0)
        expect(at({}, mode, false)).toBeLessThanOrEqual(at({}, mode, true))
        expect(at({ invokedBy: 'auto' }, mode)).toBeLessThanOrEqual(
          at({ invokedBy: 'person' }, mode),
        )
        expect(at({ invokedBy: 'auto' }, mode)).not.toBe(1)
        expect(at({ readOnly: false }, mode)).toBeLessThanOrEqual(at({ readOnly: true }, mode))
      }
      expect(at({}, 'read-only')).toBeLessThanOrEqual(at({}, 'ask'))
      expect(at({}, 'ask')).toBeLessThanOrEqual(at({}, 'auto'))
      // In a read-only Session nothing runs that may write.
      expect(at({ kind: 'command', readOnly: false }, 'read-only')).toBe(0)
    }),
  )
})
