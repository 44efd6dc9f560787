import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type {
  ContextSource,
  SourceOrigin,
  SourceParameter,
} from '../model/events/context-source.ts'
import { planHydration } from './hydration-plan.ts'

type Parameters = Readonly<Record<string, SourceParameter>>

function source(from: SourceOrigin, parameters: Parameters = {}): ContextSource {
  return { id: 'facts', from, parameters, max_bytes: 1, timeout_ms: 1 }
}

function command(argv: readonly string[], parameters: Parameters = {}): ContextSource {
  return source({ kind: 'command', argv }, parameters)
}

function kindOf(result: ReturnType<typeof planHydration>): string {
  return result.ok ? 'ok' : result.error.kind
}

test('a parameter replaces a whole argument, and text around braces is left alone', () => {
  const argv = ['git', 'log', '-n', '{count}', '{since}', 'a{since}', '{}', '@{1}', '{since} ']
  const parameters: Parameters = {
    count: { type: 'integer', default: 5 },
    since: { type: 'string' },
  }
  const plan = planHydration(command(argv, parameters), { since: 'v1 $(x); y' })
  const words = ['git', 'log', '-n', '5', 'v1 $(x); y', 'a{since}', '{}', '@{1}', '{since} ']
  expect(plan).toEqual({ ok: true, value: { kind: 'command', argv: words } })
})

test('the arguments of a tool keep the type of a number, at any depth', () => {
  const call: SourceOrigin = {
    kind: 'tool',
    name: 'grep',
    arguments: { pattern: '{word}', limit: '{n}', all: [{ deep: '{n}' }, true, null, 3] },
  }
  const parameters: Parameters = { word: { type: 'string' }, n: { type: 'integer' } }
  const plan = planHydration(source(call, parameters), { word: 'TODO', n: '7' })
  expect(plan).toEqual({
    ok: true,
    value: {
      kind: 'tool',
      name: 'grep',
      arguments: { pattern: 'TODO', limit: 7, all: [{ deep: 7 }, true, null, 3] },
    },
  })
})

test('file, handle and fact take a parameter', () => {
  const parameters: Parameters = { x: { type: 'string' } }
  const origins: readonly (readonly [SourceOrigin, string])[] = [
    [{ kind: 'file', path: '{x}' }, 'docs/a.md'],
    [{ kind: 'resource_view', handle: '{x}' }, '@img1'],
    [{ kind: 'presenter', fact: '{x}' }, 'selection'],
  ]
  for (const [from, x] of origins) {
    const plan = planHydration(source(from, parameters), { x })
    expect(plan.ok && Object.values(plan.value)).toContain(x)
  }
})

const STRING: SourceParameter = { type: 'string' }
const PATH: SourceParameter = { type: 'path' }

test.each<readonly [string, SourceParameter, unknown]>([
  ['a leading dash', STRING, '--output=/x'],
  ['a lone dash', STRING, '-'],
  ['a line break', STRING, 'a\nb'],
  ['NUL', STRING, 'a\0b'],
  ['an escape sequence', STRING, '\x1b[31m'],
  ['a line separator', STRING, 'a\u2028b'],
  ['half a character', STRING, '\ud800'],
  ['a number for a text', STRING, 3],
  ['an object', STRING, {}],
  ['null', { ...STRING }, null],
  ['a very long text', STRING, 'x'.repeat(5_000)],
  ['a parent folder', PATH, '../x'],
  ['a parent folder inside', PATH, 'a/../../x'],
  ['a parent folder at the end', PATH, 'a/..'],
  ['an absolute path', PATH, '/etc/passwd'],
  ['a home', PATH, '~/.ssh/id_rsa'],
  ['a path with a dash', PATH, '-x'],
  ['pathspec magic', PATH, ':(top)x'],
  ['an empty path', PATH, ''],
  ['a drive', PATH, 'C:\\x'],
  ['a text for a number', { type: 'integer' }, '5; rm'],
  ['a fraction', { type: 'integer' }, 1.5],
  ['a negative number', { type: 'integer' }, -1],
  ['too small', { type: 'integer', minimum: 2 }, 1],
  ['too large', { type: 'integer', maximum: 2 }, 3],
  ['infinity', { type: 'integer' }, Infinity],
  ['another choice', { type: 'choice', choices: ['a', 'b'] }, 'c'],
  ['a choice of nothing', { type: 'choice' }, 'c'],
])('a value is refused: %s', (_, parameter, x) => {
  expect(kindOf(planHydration(command(['run', '{x}'], { x: parameter }), { x }))).toBe(
    'invalid_args',
  )
})

test.each<readonly [string, SourceParameter, unknown, string]>([
  ['shell syntax is only text', STRING, 'a; rm -rf $HOME `x`', 'a; rm -rf $HOME `x`'],
  ['an empty text', STRING, '', ''],
  ['a path', PATH, 'src/a b.ts', 'src/a b.ts'],
  ['dots in a name', PATH, 'a..b/...', 'a..b/...'],
  ['zero', { type: 'integer' }, 0, '0'],
  ['a declared negative number', { type: 'integer', minimum: -5 }, -5, '-5'],
  ['a choice that is an option', { type: 'choice', choices: ['--stat'] }, '--stat', '--stat'],
])('a value is accepted: %s', (_, parameter, x, word) => {
  const plan = planHydration(command(['run', '{x}'], { x: parameter }), { x })
  expect(plan).toEqual({ ok: true, value: { kind: 'command', argv: ['run', word] } })
})

test.each<readonly [string, ContextSource, Readonly<Record<string, unknown>>]>([
  ['an undeclared argument', command(['run']), { x: 'a' }],
  ['an inherited name', command(['run']), JSON.parse('{"__proto__": "a"}')],
  ['a missing argument', command(['run', '{x}'], { x: STRING }), {}],
  ['a placeholder without a parameter', command(['run', '{y}']), {}],
  ['a placeholder for an inherited name', command(['run', '{constructor}']), {}],
  ['a default that is not allowed', command(['run'], { x: { ...STRING, default: '-x' } }), {}],
  ['a file outside', source({ kind: 'file', path: '../../x' }), {}],
  ['an absolute file', source({ kind: 'file', path: '/etc/passwd' }), {}],
  ['a file of the home', source({ kind: 'file', path: '~/.ssh/config' }), {}],
])('no plan for %s', (_, from, args) => {
  expect(kindOf(planHydration(from, args))).toBe('invalid_args')
})

test('an argument vector keeps its length, and every value stays one argument', () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom('{a}', '{b}', '{c}', '--', 'a b', '$(x)', '{a}{b}', ' {a}'),
  )
  const value = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.integer(), fc.anything())
  const parameters: Parameters = {
    a: { type: 'string', default: 'x' },
    b: { type: 'path', default: 'y' },
    c: { type: 'integer', default: 1 },
  }
  const args = fc.record({ a: value, b: value, c: value }, { requiredKeys: [] })
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), args, (argv, given) => {
      const plan = planHydration(command(argv, parameters), given)
      if (!plan.ok) {
        expect(plan.error.kind).toBe('invalid_args')
        return
      }
      if (plan.value.kind !== 'command') throw new Error('expected a command')
      expect(plan.value.argv).toHaveLength(argv.length)
      const values: Readonly<Record<string, unknown>> = { a: 'x', b: 'y', c: 1, ...given }
      for (const [at, made] of plan.value.argv.entries()) {
        const [, name] = /^\{([abc])\}$/.exec(argv[at] ?? '') ?? []
        const expected = name === undefined ? argv[at] : (values[name] ?? parameters[name]?.default)
        expect(made).toBe(name === 'c' ? String(Number(expected)) : expected)
        if (name !== undefined) expect(made).not.toMatch(/^-|[\n\0]/)
      }
    }),
    { numRuns: 300 },
  )
})
