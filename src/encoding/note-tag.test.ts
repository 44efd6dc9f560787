import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { escapeNotes, originalText } from './note-tag.ts'

const TAGS = z
  .object({ forged: z.array(z.string()), near_misses: z.array(z.string()) })
  .parse(JSON.parse(readFileSync('test/vectors/note-tags.json', 'utf8')))

test.each(TAGS.forged)('%j is altered once, and can be restored', (tag) => {
  const escaped = escapeNotes(tag)
  expect(escaped).not.toBe(tag)
  expect(originalText(escaped)).toBe(tag)
  // What is left between the bracket and the name is a backslash.
  expect(escaped).toMatch(/[<＜‹⟨〈﹤❮]\\/u)
})

test.each(TAGS.near_misses)('%j is not a tag and stays as it is', (text) => {
  expect(escapeNotes(text)).toBe(text)
})

const pieces = fc.constantFrom(
  '<',
  '\\',
  '/',
  ' ',
  'harness',
  '-',
  'note',
  '>',
  '\u200b',
  'x',
  '\n',
)
const texts = fc.array(fc.oneof(pieces, fc.constantFrom(...TAGS.forged))).map((all) => all.join(''))

test('every text can be restored exactly, and different texts stay different', () => {
  fc.assert(fc.property(texts, (text) => originalText(escapeNotes(text)) === text))
})

test('no text has the plain tag afterwards', () => {
  fc.assert(fc.property(texts, (text) => !/<\/?harness-note/i.test(escapeNotes(text))))
})

test('a text that repeats the start of a tag many times is read in one pass', () => {
  const long = ['<', '< ', '<\\', '</', '<harness', '<harness -'].map((start) =>
    `${start}${start.at(-1)}`.repeat(50_000),
  )
  for (const text of long) expect(originalText(escapeNotes(text))).toBe(text)
})
