import { expect, test } from 'vitest'
import { participleNames, participleRows } from './name-checks.ts'

const NONE = { type: '', function: '', constant: '', field: '' }

test('a type, function, exported constant, field or method with a bare participle as its name is found', () => {
  const tree = new Map([
    ['src/a.ts', 'interface Asked {\n  readonly shown: string\n  told(): void\n}\n'],
    ['src/b.ts', 'export const WRITTEN = 1\nconst known = 2\nfunction counted() {}\n'],
    ['rehearse/src/c.ts', 'class C {\n  #kept = 1\n  withheld() {}\n}\n'],
  ])
  expect(participleNames(tree, NONE).map((offence) => offence.replace(/;.*/, ''))).toEqual([
    'type Asked is a bare participle (src/a.ts:1',
    'field shown is a bare participle (src/a.ts:2',
    'field told is a bare participle (src/a.ts:3',
    'constant WRITTEN is a bare participle (src/b.ts:1',
    'function counted is a bare participle (src/b.ts:3',
    'field kept is a bare participle (rehearse/src/c.ts:2',
    'field withheld is a bare participle (rehearse/src/c.ts:3',
  ])
})

test('a name of several words, an infinitive, a local and a test are not', () => {
  const tree = new Map([
    ['src/a.ts', 'interface ShownQuestion {\n  readonly is_known: string\n  read(): void\n}\n'],
    ['src/b.ts', 'export const SEED = 1\nexport function embed() {\n  const found = 1\n}\n'],
    ['src/b.test.ts', 'function counted() {}\n'],
    ['test/support/c.ts', 'export function counted() {}\n'],
  ])
  expect(participleNames(tree, NONE)).toEqual([])
})

test('the list of known ones allows a number of each, and must shrink with it', () => {
  const tree = new Map([
    ['src/a.ts', 'interface A {\n  readonly shown: string\n}\n'],
    ['src/b.ts', 'interface B {\n  readonly shown: string\n}\n'],
  ])
  expect(participleNames(tree, { ...NONE, field: 'shown*2' })).toEqual([])
  expect(participleNames(tree, { ...NONE, field: 'shown' })).toEqual([
    'field shown is a bare participle (src/a.ts:2, src/b.ts:2; 1 allowed); name the thing, or what the function does',
  ])
  expect(participleNames(tree, { ...NONE, field: 'kept shown*3' })).toEqual([
    'known-participles.ts allows field kept 1 times; it occurs 0 times',
    'known-participles.ts allows field shown 3 times; it occurs 2 times',
  ])
})

test('an established term may be a name, and the rows of the list are counted from the source', () => {
  const tree = new Map([
    ['src/a.ts', 'interface A {\n  readonly closed: string\n  readonly shown: string\n}\n'],
    ['src/b.ts', 'interface B {\n  readonly shown: string\n}\nfunction kept() {}\n'],
  ])
  expect(participleNames(tree, { ...NONE, field: 'shown*2', function: 'kept' })).toEqual([])
  expect(participleRows(tree)).toEqual(['field: shown*2', 'function: kept'])
})
