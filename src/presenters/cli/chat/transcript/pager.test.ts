import { expect, test } from 'vitest'
import type { Key } from '../../screen/keys.ts'
import { currentBlock, NEW_PAGER, pagerBytes, pressPager, type PagerRow } from './pager.ts'

/** Ten blocks of three rows. */
const ROWS: readonly PagerRow[] = Array.from({ length: 30 }, (_, at) => ({
  line: [{ text: `row ${at}${at % 10 === 7 ? ' Harbour' : ''}`, style: {} }],
  block: Math.floor(at / 3),
}))

/** The state after these keys: chords in angle brackets, other characters as typed. */
function after(keys: string) {
  const pressed = keys.match(/<[^>]+>|./g) ?? []
  return pressed.reduce((state, name) => {
    const key: Key = name.startsWith('<')
      ? { kind: 'press', chord: name.slice(1, -1) }
      : { kind: 'text', text: name }
    return pressPager(state, key, ROWS, 10).state
  }, NEW_PAGER)
}

test.each([
  ['<down>j<up>', 1],
  ['<page-down> ', 18],
  ['G', 20],
  ['Gk', 19],
  ['Ggk', 0],
  ['}}', 6],
  ['G{', 18],
])('the keys %s scroll to row %i, within the first and the last page', (keys, top) => {
  expect(after(keys).top).toBe(top)
})

test('a search finds backwards first, n and N continue around the end, and the pager says if nothing is found', () => {
  expect([
    after('G/harb<enter>').top,
    after('G/harb<enter>n').top,
    after('G/harb<enter>nN').top,
  ]).toEqual([17, 27, 17])
  expect(after('/sail<enter>')).toMatchObject({ top: 0, note: 'Not found: sail' })
  expect(after('/sa<backspace><escape>')).toEqual(NEW_PAGER)
  expect(after('n').note).toBe('Nothing was searched for yet: press /')
})

test('Esc, q, Ctrl-O and Ctrl-C close it, and y copies the first block that begins in view', () => {
  const orders = ['escape', 'ctrl-o', 'ctrl-c'].map((chord) => {
    return pressPager(NEW_PAGER, { kind: 'press', chord }, ROWS, 10).order
  })
  expect([...orders, pressPager(NEW_PAGER, { kind: 'text', text: 'q' }, ROWS, 10).order]).toEqual(
    Array(4).fill('close'),
  )
  expect([currentBlock(ROWS, 0, 10), currentBlock(ROWS, 4, 10), currentBlock(ROWS, 4, 1)]).toEqual([
    0, 2, 1,
  ])
})

test('a screen has as many rows as the terminal, none wider, and marks what was found', () => {
  const size = { columns: 20, rows: 11, colour: true, title: 'Transcript' }
  const bytes = pagerBytes(after('G/harb<enter>'), ROWS, size)
  expect(bytes.split('\r\n').length).toBe(11)
  expect(bytes).toContain('\u001b[1;4;33mHarb\u001b[0m')
  expect(bytes).toContain('Transcript · 27 of')
})
