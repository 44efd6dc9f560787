import * as fc from 'fast-check'
import { foldedName } from '../../model/safety/folded-name.ts'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { liesIn, segmentsOf, shownPath } from './confined-path.ts'

const ROOT = '/srv/ws'

test('a path inside is split into its segments', () => {
  for (const [path, names] of [
    ['a/b', ['a', 'b']],
    ['./a//b/.', ['a', 'b']],
    ['a/../b', ['b']],
    ['.', []],
    ['/srv/ws', []],
    ['/srv/ws/a', ['a']],
    ['/real/ws/a', ['a']],
    ['/../srv/ws/a', ['a']],
  ] as const) {
    expect([path, segmentsOf(path, [ROOT, '/real/ws'])]).toEqual([path, { ok: true, value: names }])
  }
})

test('every path either stays inside or is refused', () => {
  const piece = fc.constantFrom('..', '.', '', 'a', 'ws', 'ws-evil', 'srv', '~', '...')
  const path = fc.tuple(fc.boolean(), fc.array(piece, { minLength: 1, maxLength: 9 }))
  fc.assert(
    fc.property(path, ([absolute, pieces]) => {
      const words = (absolute ? '/' : '') + pieces.join('/')
      const segments = segmentsOf(words, [ROOT])
      if (!segments.ok) return
      expect(segments.value.some((name) => ['', '.', '..'].includes(name))).toBe(false)
      expect(resolve(ROOT, words)).toBe(resolve(ROOT, ...segments.value))
    }),
    { numRuns: 2_000 },
  )
})

test('a folder contains what is below it, and no sibling with a longer name', () => {
  expect(liesIn('/ws/a', '/ws')).toBe(true)
  expect(liesIn('/ws', '/ws')).toBe(true)
  expect(liesIn('/ws-evil', '/ws')).toBe(false)
  expect(liesIn('/', '/ws')).toBe(false)
  expect(liesIn('/anything', '/')).toBe(true)
})

test('names that some file system treats as equal fold to the same name', () => {
  for (const name of ['.HAWSER', '.hawser.', '.hawser ', '.haw\u200cser', '.haw\u017fer']) {
    expect(foldedName(name)).toBe('.hawser')
  }
  expect(foldedName('u\u0308')).toBe(foldedName('\u00fc'))
  expect(foldedName('.hawsers')).not.toBe('.hawser')
})

test('shown names contain no control characters', () => {
  expect(shownPath('a/b c.txt')).toBe('a/b c.txt')
  expect(shownPath('\u202Egnp.exe\n\x1b[2J')).toBe(String.raw`\u{202e}gnp.exe\u{a}\u{1b}[2J`)
  expect(Array.from(shownPath('😀'.repeat(500)))).toHaveLength(201)
})
