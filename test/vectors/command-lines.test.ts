import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { describe, expect, test } from 'vitest'
import { Rule } from '../../src/model/rule.ts'
import type { Claim } from '../../src/policy/claim.ts'
import { decide } from '../../src/policy/decide.ts'
import { splitCommand } from '../../src/policy/command-line.ts'

/** Command lines, and the decision on each in mode `ask` with a set of rules. */
const Vectors = z.object({
  rules: z.record(z.string(), z.array(Rule)),
  vectors: z.array(
    z.object({
      rules: z.string(),
      command: z.string(),
      folder: z.string().optional(),
      /** `read-only`: it runs without a question, and can write nothing. */
      answer: z.enum(['allow', 'read-only', 'ask', 'deny']),
    }),
  ),
})

const file = new URL('command-lines.json', import.meta.url)
const { rules, vectors } = Vectors.parse(JSON.parse(readFileSync(file, 'utf8')))

function answerTo(command: string, folder: string | undefined, set: readonly Rule[]) {
  const claim: Claim = {
    tool: 'bash',
    effect: 'run',
    paths: folder === undefined ? [] : [folder],
    command,
    network: false,
  }
  const scoped = set.map((rule) => ({ rule, scope: 'session' as const }))
  return { claim, posture: { mode: 'ask', isConfined: true, rules: scoped } as const }
}

describe.each(Object.entries(rules))('rules: %s', (name, set) => {
  const own = vectors.filter((vector) => vector.rules === name)

  test.each(own)('$command in $folder: $answer', ({ command, folder, answer }) => {
    const { claim, posture } = answerTo(command, folder, set)
    const { answer: given, writable } = decide(claim, posture)
    expect(given === 'allow' && writable === 'nothing' ? 'read-only' : given).toBe(answer)
  })

  test('no rule covers the network or a missing sandbox, but deny rules apply there too', () => {
    for (const { command, folder, answer } of own) {
      const { claim, posture } = answerTo(command, folder, set)
      const always = answer === 'deny' ? 'deny' : 'ask'
      expect(decide({ ...claim, network: true }, posture).answer).toBe(always)
      expect(decide(claim, { ...posture, isConfined: false }).answer).toBe(always)
    }
  })
})

test('there are at least 200 different command lines', () => {
  const keys = vectors.map(({ rules: set, command, folder }) => JSON.stringify([set, command, folder]))
  expect(new Set(keys).size).toBe(vectors.length)
  expect(vectors.length).toBeGreaterThanOrEqual(200)
})

test('matching by characters alone would allow many commands that must ask', () => {
  const asking = vectors.filter(({ rules: set, answer }) => set === 'npm test' && answer === 'ask')
  const naive = asking.filter(({ command }) => command.startsWith('npm test'))
  expect(naive.length).toBeGreaterThan(50)
})

test.each([
  ['a b', [['a', 'b']]],
  [`a 'b c' "d \\" e" f\\ g`, [['a', 'b c', 'd " e', 'f g']]],
  ['a;b&&c||d|e&f\ng', [['a'], ['b'], ['c'], ['d'], ['e'], ['f'], ['g']]],
  ['a # b; c\nd', [['a'], ['d']]],
  ['a#b', [['a#b']]],
  ['a 2>&1 b', [['a', 'b']]],
  ['a\\\nb "c\\\nd"', [['ab', 'cd']]],
  ["''", [['']]],
  ['A=1 b', [['b']]],
  ['a "\\d"', [['a', '\\d']]],
])('%j has the words %j', (command, words) => {
  expect(splitCommand(command)?.map((part) => part.words.map(({ text }) => text))).toEqual(words)
})
