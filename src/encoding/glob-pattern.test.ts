import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { globPattern } from './glob-pattern.ts'

const CASES: readonly [pattern: string, yes: readonly string[], no: readonly string[]][] = [
  ['*.ts', ['a.ts', 'src/a.ts', 'src/deep/a.ts'], ['a.tsx', 'a.ts/b', 'ts']],
  ['src/*.ts', ['src/a.ts'], ['a.ts', 'src/deep/a.ts', 'lib/src/a.ts']],
  ['./src/*.ts', ['src/a.ts'], ['a.ts']],
  ['**/*.ts', ['a.ts', 'src/deep/a.ts'], ['a.js']],
  ['src/**', ['src/a', 'src/a/b'], ['src', 'lib/src/a']],
  ['src/**/x/*.ts', ['src/x/a.ts', 'src/b/c/x/a.ts', 'src/x/x/a.ts'], ['src/a.ts', 'src/x/y/a.ts']],
  ['**/test/**/*.ts', ['test/a.ts', 'a/test/b/c.ts'], ['tests/a.ts']],
  ['{src,test}/**/*.{ts,tsx}', ['src/a.ts', 'test/b/c.tsx'], ['lib/a.ts', 'src/a.js']],
  ['a{b,{c,d}e}f', ['abf', 'acef', 'adef'], ['af', 'abef']],
  ['a{b}c{', ['a{b}c{'], ['abc']],
  ['?[a-c][!x]', ['zay', 'qcz'], ['zax', 'zd', 'za']],
  [String.raw`\*\{a,b\}`, ['*{a,b}'], ['xa', '*a']],
  ['.git*', ['.gitignore', 'a/.gitkeep'], ['git']],
  ['a**b', ['ab', 'axxb'], ['a/b']],
]

test('a pattern matches these paths and not those', () => {
  for (const [pattern, yes, no] of CASES) {
    const matches = globPattern(pattern)
    expect([pattern, yes.filter((path) => matches?.(path) !== true)]).toEqual([pattern, []])
    expect([pattern, no.filter((path) => matches?.(path) !== false)]).toEqual([pattern, []])
  }
})

test('many stars on a long name do not take exponential time', () => {
  const matches = globPattern(`${'*a'.repeat(100)}b/${'**/x/'.repeat(50)}y`)
  expect(matches?.(`${'a'.repeat(250)}/${'x/'.repeat(400)}z`)).toBe(false)
})

test('a pattern with too many alternatives is refused', () => {
  expect(globPattern('{a,b}'.repeat(20))).toBeUndefined()
  expect(globPattern('{'.repeat(10_000))).toBeTypeOf('function')
})

test('the result equals that of a slow and simple matcher', () => {
  const piece = fc.constantFrom('a', 'b', '*', '?', '/', '**/')
  const pattern = fc.array(piece, { minLength: 1, maxLength: 7 }).map((parts) => parts.join(''))
  const path = fc.array(fc.constantFrom('a', 'b', 'a/'), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(pattern, path, (words, parts) => {
      const name = parts.join('').replace(/\/$/, '')
      const plain = words.replaceAll(/\/+/g, '/').replace(/^\/|\/$/g, '')
      fc.pre(plain !== '' && !plain.includes('***'))
      expect([plain, name, globPattern(plain)?.(name)]).toEqual([plain, name, slowly(plain, name)])
    }),
    { numRuns: 3_000 },
  )
})

function slowly(pattern: string, name: string): boolean {
  const deep = pattern.includes('/') ? pattern : `**/${pattern}`
  const source = deep
    .replace(/(^|\/)\*\*$/, '$1**/*')
    .split('/')
    .map((part) =>
      part === '**'
        ? '**'
        : part.replaceAll(/\*+/g, '*').replaceAll('*', '[^/]*').replaceAll('?', '[^/]'),
    )
    .join('/')
    .replaceAll('**/', '(?:[^/]+/)*')
  return new RegExp(`^${source}$`).test(name)
}
