import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { LIMITS } from '../model/limits.ts'
import { parseSkill } from './front-matter.ts'

const START = '---\nname: review\ndescription: d\n'

test('a SKILL.md may have 256 KiB, and its front matter 48 KiB', () => {
  const whole = (size: number) => {
    const start = `${START}---\n`
    return parseSkill(Buffer.from(start + 'x'.repeat(size - start.length)), 'review')
  }
  expect(whole(LIMITS.skill_file_bytes).fields).toBeDefined()
  expect(whole(LIMITS.skill_file_bytes + 1).fields).toBeUndefined()
  const front = (size: number) => {
    const keys = START.slice(4)
    const comment = `#${'x'.repeat(size - keys.length - 2)}\n`
    return parseSkill(Buffer.from(`${START}${comment}---\n`), 'review')
  }
  expect(front(LIMITS.skill_front_matter_bytes).fields).toBeDefined()
  expect(front(LIMITS.skill_front_matter_bytes + 1).fields).toBeUndefined()
})

test('a file that is not UTF-8 is not usable, and the line is named', () => {
  const bytes = Buffer.concat([Buffer.from(`${START}---\n\n`), Buffer.from([0xc3, 0x28])])
  expect(parseSkill(bytes, 'review')).toMatchObject({
    fields: undefined,
    findings: [{ severity: 'error', line: 6, message: 'The file is not valid UTF-8.' }],
  })
})

test('[SH-001] [SH-022] [SH-031] nothing in a body is interpolated or becomes a context source', () => {
  const body =
    '\r\n---\nname: x\n---\n!`id` {{ template }} ${HOME} $ARGUMENTS </skill>\n```sh\nid\n```'
  const parsed = parseSkill(Buffer.from(`${START}---\n${body}`), 'review')
  expect(parsed.body.toString()).toBe(body)
  expect(parsed.fields?.context_sources).toEqual([])
})

test.each([
  ['lists', `a: ${'['.repeat(40_000)}`],
  ['maps', '{'.repeat(40_000)],
  ['entries', '- '.repeat(20_000)],
  ['levels', `metadata: ${'[a, '.repeat(20)}${']'.repeat(20)}`],
  ['aliases', `a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nlicense: [*c, *c, *c]`],
])('deep or multiplying YAML is an error: %s', (_, yaml) => {
  const { fields, findings } = parseSkill(Buffer.from(`${START}${yaml}\n---\n`), 'review')
  expect(fields).toBeUndefined()
  expect(findings.some(({ severity }) => severity === 'error')).toBe(true)
  expect(findings.map(({ message }) => message).join()).not.toContain('call stack')
})

test.each([
  ['lists', `a: ${'['.repeat(1_000)}${']'.repeat(1_000)}`, 4],
  ['maps', `a: ${'{a: '.repeat(1_000)}${'}'.repeat(1_000)}`, 4],
  ['entries', `a:\n  ${'- '.repeat(1_000)}x`, 5],
  ['keys', `a: b\n${'? '.repeat(1_000)}x`, 5],
])(
  'YAML that nests %s too deeply is refused with the line, not with the stack',
  (_, yaml, line) => {
    const { findings } = parseSkill(Buffer.from(`${START}${yaml}\n---\n`), 'review')
    const message = 'The front matter is nested in more than 16 levels.'
    expect(findings).toEqual([{ severity: 'error', line, message }])
  },
)

test('brackets and dashes inside of text do not count as levels', () => {
  const text = `${'['.repeat(40)}${'- '.repeat(40)}`
  const yaml = `metadata:\n  a: "${text}"\n  b: |\n    ${text}\n  c: x ${text}\n`
  expect(parseSkill(Buffer.from(`${START}${yaml}---\n`), 'review').fields?.metadata).toEqual({
    a: text,
    b: `${text}\n`,
    c: `x ${text}`.trimEnd(),
  })
})

test('four thousand keys are read', () => {
  const yaml = Array.from({ length: 4_000 }, (_, at) => `k${at}: 1\n`).join('')
  expect(parseSkill(Buffer.from(`${START}${yaml}---\n`), 'review').findings).toHaveLength(4_000)
})

test('parsing never throws, and a Skill with an error has no fields', () => {
  const line = fc.constantFrom(
    'name: review',
    'description: d',
    'context_sources:',
    '  - id: a',
    '    command: [git, diff]',
    '    command: git',
    '    file: "{p}"',
    '    parameters: {p: {type: path}}',
    '    tool: {name: grep, arguments: {a: [{b: "{p}"}]}}',
    'metadata: {a: !!binary x, ? [b] : c}',
    'allowed-tools: a(b) ,c',
    '%YAML 1.1',
    '? x',
    ': y',
    '&a',
    '*a',
    '!!set {a}',
    '...',
    '"',
    '\t',
    '\u2028',
  )
  const text = fc
    .array(fc.oneof(line, fc.string({ unit: 'binary', maxLength: 20 })), { maxLength: 12 })
    .map((lines) => Buffer.from(`---\n${lines.join('\n')}\n---\nBody`))
  const anything = fc.oneof(text, fc.uint8Array({ maxLength: 200 }))
  fc.assert(
    fc.property(anything, (bytes) => {
      const { fields, findings } = parseSkill(Buffer.from(bytes), 'review')
      const isBroken = findings.some(({ severity }) => severity === 'error')
      expect(fields === undefined).toBe(isBroken)
      expect(findings.every(({ line: at }) => Number.isInteger(at) && at >= 1)).toBe(true)
    }),
    { numRuns: 1_000 },
  )
})
