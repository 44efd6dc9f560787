import { expect, test } from 'vitest'
import { descriptor, rejected } from './resources.ts'

test('amounts of one are singular', () => {
  const pdf = { kind: 'pdf', name: 'a.pdf', media_type: 'application/pdf' } as const
  expect(descriptor({ ...pdf, handle: '@pdf1', size_bytes: 1, pages: 1, lines: 1 }, 500)).toBe(
    '[@pdf1: pdf, "a.pdf", application/pdf, 1 byte, 1 page, 1 line]',
  )
})

test('names in a warning are escaped once', () => {
  const reason = String.raw`the file "a\u001b\"b" is a link`
  expect(
    rejected([{ name: 'a\u001b"b', reason }])
      .split('\n')
      .at(-1),
  ).toBe(String.raw`- a\u001b"b: the file "a\u001b\"b" is a link`)
  // As it is recorded: see `shownName`.
  const name = String.raw`odd"na\u{a}me.zip`
  expect(
    rejected([{ name, reason: 'no' }])
      .split('\n')
      .at(-1),
  ).toBe(`- ${name}: no`)
  // Nothing in a reason can add a line.
  expect(
    rejected([{ name: 'a', reason: 'x\ny' }])
      .split('\n')
      .at(-1),
  ).toBe(String.raw`- a: x\ny`)
})
