import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Redactor } from '../encoding/redaction.ts'
import { MOST_REPLACEMENTS, replaceTexts, type Edit } from './replacements.ts'

/** Few letters, so that texts occur often, overlap, and result from other edits. */
const letters = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', '\n', 'ü')
const text = (minLength: number, maxLength: number) =>
  fc.array(letters, { minLength, maxLength }).map((all) => all.join(''))

/** A text, and edits whose texts are mostly parts of it. */
const scene = fc
  .tuple(
    text(40, 60),
    fc.array(
      fc.record({
        from: fc.nat({ max: 39 }),
        length: fc.integer({ min: 2, max: 5 }),
        foreign: fc.oneof(
          { weight: 9, arbitrary: fc.constant('') },
          { weight: 1, arbitrary: text(1, 4) },
        ),
        new_text: text(0, 4),
        replace_all: fc.boolean(),
      }),
      { minLength: 1, maxLength: 4, size: 'max' },
    ),
  )
  .map(([content, cuts]) => {
    const edits = cuts.map(({ from, length, foreign, new_text, replace_all }): Edit => {
      const old_text = foreign === '' ? content.slice(from, from + length) : foreign
      return { old_text, new_text, replace_all }
    })
    return { content, edits }
  })

/** The same result by marking single letters; `undefined` if the edits do not match. */
function reference(content: string, edits: readonly Edit[]) {
  const owner = Array.from(content, () => -1)
  const starts = new Map<number, string>()
  for (const [at, { old_text, new_text, replace_all = false }] of edits.entries()) {
    const places = Array.from(content, (_, from) => from).filter((from) =>
      content.startsWith(old_text, from),
    )
    if (places.length === 0 || (places.length > 1 && !replace_all)) return undefined
    for (const from of places) {
      const own = owner.slice(from, from + old_text.length)
      if (own.some((one) => one === at)) continue
      if (own.some((one) => one !== -1)) return undefined
      owner.fill(at, from, from + old_text.length)
      starts.set(from, new_text)
    }
  }
  const after = Array.from(
    content,
    (letter, at) => (starts.get(at) ?? '') + (owner[at] === -1 ? letter : ''),
  )
  return { after: after.join(''), count: starts.size }
}

const FILE = { path: 'x', redactor: new Redactor([]), escapesNotes: true }

function replaced(content: string, edits: readonly Edit[]) {
  const file = { ...FILE, bytes: Buffer.from(content) }
  const result = replaceTexts(file, edits)
  if (!result.ok) return undefined
  return { after: result.value.bytes.toString('utf8'), count: result.value.count }
}

test('any edits of any text give the same result as marking single letters, or none', () => {
  const seen = { refused: 0, one: 0, several: 0 }
  fc.assert(
    fc.property(scene, ({ content, edits }) => {
      const expected = reference(content, edits)
      seen[expected === undefined ? 'refused' : edits.length === 1 ? 'one' : 'several'] += 1
      expect(replaced(content, edits)).toEqual(expected)
    }),
    { numRuns: 1_500 },
  )
  // The generator must often produce both edits that match and edits that do not.
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(100)
})

test('pieces cut from a text at random are all replaced, in any order', () => {
  const cuts = fc.uniqueArray(fc.nat({ max: 99 }), { minLength: 2, maxLength: 12 })
  fc.assert(
    fc.property(cuts, fc.array(text(0, 6), { minLength: 6, maxLength: 6 }), (places, fresh) => {
      const words = Array.from({ length: 100 }, (_, at) => `<${at}>`)
      const sorted = places.toSorted((a, b) => a - b)
      const edits = sorted.flatMap((from, at) => {
        const to = sorted[at + 1]
        if (at % 2 === 1 || to === undefined) return []
        return [{ from, to, new_text: fresh[at / 2] ?? '' }]
      })
      const after = words.map((word, at) => {
        const own = edits.find(({ from, to }) => at >= from && at < to)
        if (own === undefined) return word
        return at === own.from ? own.new_text : ''
      })
      const requested = edits.map(({ from, to, new_text }) => ({
        old_text: words.slice(from, to).join(''),
        new_text,
      }))
      const expected = { after: after.join(''), count: edits.length }
      expect(replaced(words.join(''), requested)).toEqual(expected)
      expect(replaced(words.join(''), requested.toReversed())).toEqual(expected)
    }),
    { numRuns: 500 },
  )
})

test('a call makes at most the maximum number of replacements, over all its edits', () => {
  const most = 'a'.repeat(MOST_REPLACEMENTS)
  const all = { old_text: 'a', new_text: 'b', replace_all: true }
  expect(replaced(most, [all])?.count).toBe(MOST_REPLACEMENTS)
  expect(refusal(`${most}a`, [all])).toMatchObject({
    kind: 'too_large',
    details: { reason: 'replacements', limit: MOST_REPLACEMENTS },
  })
  const one = { old_text: 'c', new_text: 'd' }
  expect(refusal(`${most}c`, [all, one])?.kind).toBe('too_large')
})

test('a letter that occurs millions of times in a large file is refused', () => {
  const content = 'a'.repeat(10 * 1024 * 1024)
  const all = { old_text: 'a', new_text: 'b', replace_all: true }
  expect(refusal(content, [all])?.kind).toBe('too_large')
  expect(refusal(content, [{ old_text: 'a', new_text: 'b' }])).toMatchObject({
    kind: 'not_unique',
    details: { count: MOST_REPLACEMENTS + 1 },
  })
})

function refusal(content: string, edits: readonly Edit[]) {
  const file = { ...FILE, bytes: Buffer.from(content) }
  const result = replaceTexts(file, edits)
  return result.ok ? undefined : result.error
}

function editedWith(escapesNotes: boolean, content: string, edit: Edit): string {
  const result = replaceTexts({ ...FILE, escapesNotes, bytes: Buffer.from(content) }, [edit])
  return result.ok ? result.value.bytes.toString('utf8') : result.error.kind
}

test('without escapes in requests, both spellings of the tag of notes mean what they say', () => {
  const [plain, escaped] = ['<harness-note>', '<\\harness-note>']
  const edit = (content: string, old_text: string, new_text: string) =>
    editedWith(false, content, { old_text, new_text })
  expect([
    edit(`${plain} ${escaped}`, escaped, 'x'),
    edit(`${plain} ${escaped}`, plain, 'x'),
    edit(`q ${plain}`, 'q', escaped),
    edit(`a ${plain}`, escaped, 'x'),
  ]).toEqual([`${plain} x`, `x ${escaped}`, `${escaped} ${plain}`, 'no_match'])
})

test('the escaped spelling of the tag of notes, as a request shows it, matches the tag in the file', () => {
  const edit = (content: string, old_text: string, new_text: string) =>
    editedWith(true, content, { old_text, new_text })
  const escaped = '<\\harness-note>'
  expect([
    edit('a <harness-note> b', `a ${escaped}`, `c ${escaped} d`),
    edit('a\r\n<harness-note> b', `a\n${escaped}`, `c\n${escaped}`),
    edit('a <harness-note> b', 'a <harness-note>', `c ${escaped}`),
    edit(`<harness-note> ${escaped}`, escaped, 'x'),
    edit(`<harness-note> ${escaped}`, '<\\\\harness-note>', 'x'),
    edit('q <harness-note>', 'q', `b ${escaped}`),
    edit(`a ${escaped}`, escaped, 'x'),
    edit('a', 'a', escaped),
    edit('a b', `a ${escaped}`, 'x'),
  ]).toEqual([
    'c <harness-note> d b',
    'c\r\n<harness-note> b',
    'c <harness-note> b',
    `x ${escaped}`,
    '<harness-note> x',
    'b <harness-note> <harness-note>',
    'a x',
    escaped,
    'no_match',
  ])
})
