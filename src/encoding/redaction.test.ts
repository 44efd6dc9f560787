import { describe, expect, test } from 'vitest'
import { random, type Random } from '../../test/support/host/random.ts'
import { KEY_PLACEHOLDER, Redactor } from './redaction.ts'

const KEYS = ['sk-canary-1234', 'other-canary-5678']

test('a key is redacted in texts, lists and names, and nothing else is changed', () => {
  const value = {
    text: 'use sk-canary-1234, or sk-canary-1234',
    list: ['other-canary-5678', 7, null],
    'named sk-canary-1234': { deep: { inside: 'other-canary-5678!' } },
    plain: 'sk-canary',
  }
  expect(new Redactor(KEYS).value(value)).toEqual({
    text: 'use [redacted key], or [redacted key]',
    list: ['[redacted key]', 7, null],
    'named [redacted key]': { deep: { inside: '[redacted key]!' } },
    plain: 'sk-canary',
  })
})

test('text without a key is returned unchanged', () => {
  const value = { text: 'nothing here', list: [1, { a: 'b' }] }
  const bytes = Buffer.from('nothing here')
  expect(new Redactor(KEYS).value(value)).toBe(value)
  expect(new Redactor([]).value(value)).toBe(value)
  expect(new Redactor(KEYS).bytes(bytes)).toBe(bytes)
})

test('occurrences that overlap become one placeholder, those that only touch become two', () => {
  const redact = (text: string, ...keys: string[]) => new Redactor(keys).text(text)
  expect(redact('x aaaaaa y', 'aaa')).toBe(`x ${KEY_PLACEHOLDER} y`)
  expect(redact('abab', 'ab')).toBe(KEY_PLACEHOLDER.repeat(2))
  expect(redact('1abcdefgh2', 'abcdef', 'efgh')).toBe(`1${KEY_PLACEHOLDER}2`)
  expect(redact('abc-abcdef-bc', 'bc', 'abc', 'abcdef')).toBe(
    [KEY_PLACEHOLDER, KEY_PLACEHOLDER, KEY_PLACEHOLDER].join('-'),
  )
  expect(redact('xabcdy', 'ab', 'cd', 'xabcdy')).toBe(KEY_PLACEHOLDER)
})

test('a key is found among bytes that are not UTF-8 and in text with lone surrogates', () => {
  const [key = ''] = KEYS
  const bytes = Buffer.concat([Buffer.from([0xff, 0xe2, 0x82]), Buffer.from(key), Buffer.of(0xac)])
  expect(new Redactor(KEYS).bytes(bytes)).toEqual(
    Buffer.concat([Buffer.from([0xff, 0xe2, 0x82]), Buffer.from(KEY_PLACEHOLDER), Buffer.of(0xac)]),
  )
  expect(new Redactor(KEYS).text(`\ud83d${key}\ude00`)).toBe(`\ud83d${KEY_PLACEHOLDER}\ude00`)
})

test('redacted bytes get their keys back if that gives the exact content, even with several keys and a literal placeholder', () => {
  const [one = '', two = ''] = KEYS
  const redactor = new Redactor(KEYS)
  const back = (text: string) => {
    const exact = Buffer.from(text)
    return redactor.restore(redactor.bytes(exact), (candidate) => candidate.equals(exact))
  }
  for (const text of ['none', one, `${one} ${one}`, `${two}\n${KEY_PLACEHOLDER}\n${one}`]) {
    expect(back(text)?.toString()).toBe(text)
  }
  expect(back(`${one} `.repeat(100))?.toString()).toBe(`${one} `.repeat(100))
  // Too many combinations to try.
  expect(back(`${one} ${two} `.repeat(20))).toBeUndefined()
  const other = new Redactor(['another-key'])
  expect(other.restore(redactor.bytes(Buffer.from(one)), () => false)).toBeUndefined()
})

test('a key counts as lost when it occurs fewer times than before', () => {
  const [one = '', two = ''] = KEYS
  const isLost = (before: string, after: string) =>
    new Redactor(KEYS).isLost(Buffer.from(before), Buffer.from(after))
  expect(isLost(`${one} ${one}`, one)).toBe(true)
  expect(isLost(one, two)).toBe(true)
  expect(isLost(one, `${two} ${one}`)).toBe(false)
  expect(isLost('none', 'none')).toBe(false)
})

test('an empty key redacts nothing', () => {
  expect(new Redactor(['']).text('text')).toBe('text')
})

describe('any text, any keys, any chunks', () => {
  const RUNS = 1_000

  test('the redacted chunks of a text, joined, are the redaction of the whole, by units and by bytes', () => {
    for (let seed = 0; seed < RUNS; seed += 1) {
      const { keys, text, chunks } = madeText(random(seed))
      const redactor = new Redactor(keys)
      const expected = covered(text, keys)
      expect(redactor.text(text), `seed ${seed}`).toBe(expected)
      expect(streamed(redactor, chunks).join(''), `seed ${seed}`).toBe(expected)
      const bytes = streamedBytes(redactor, chunks)
      expect(Buffer.concat(bytes).toString('latin1'), `seed ${seed}`).toBe(expected)
    }
  })

  test('text that was already returned stays valid, and less than one key is held back', () => {
    for (let seed = 0; seed < RUNS; seed += 1) {
      const { keys, text, chunks } = madeText(random(seed))
      const stream = new Redactor(keys).textStream()
      const longest = Math.max(...keys.map(({ length }) => length))
      const expected = covered(text, keys)
      let returned = ''
      for (const chunk of chunks) {
        returned += stream.push(chunk)
        expect(expected.startsWith(returned), `seed ${seed}`).toBe(true)
      }
      const kept = stream.end().replaceAll(KEY_PLACEHOLDER, '')
      expect(kept.length, `seed ${seed}`).toBeLessThan(longest)
    }
  })

  test('text that does not end with the beginning of a key is not held back', () => {
    const stream = new Redactor(KEYS).textStream()
    expect(stream.push('the answer is 42')).toBe('the answer is 42')
    expect(stream.push(' and sk-can')).toBe(' and ')
    expect(stream.push('ned')).toBe('sk-canned')
  })

  test('redacting each chunk alone, or one key after another, would fail these tests', () => {
    const eachChunk: Naive = (chunks, keys) =>
      chunks.map((chunk) =>
        keys.reduce((rest, key) => rest.replaceAll(key, KEY_PLACEHOLDER), chunk),
      )
    const eachKey: Naive = (chunks, keys) => [
      keys.reduce((rest, key) => rest.replaceAll(key, KEY_PLACEHOLDER), chunks.join('')),
    ]
    for (const naive of [eachChunk, eachKey]) {
      const wrong = Array.from({ length: RUNS }, (_, seed) => madeText(random(seed))).filter(
        ({ keys, text, chunks }) => naive(chunks, keys).join('') !== covered(text, keys),
      )
      expect(wrong.length).toBeGreaterThan(RUNS / 20)
    }
  })
})

type Naive = (chunks: readonly string[], keys: readonly string[]) => readonly string[]

/** Few letters, so that keys overlap themselves and each other, and start with or contain each other. */
function madeText(chance: Random) {
  const word = (length: number) =>
    Array.from({ length }, () => chance.pick(['a', 'b', 'c'])).join('')
  const keys = Array.from({ length: 1 + chance.below(3) }, () => word(2 + chance.below(5)))
  const pieces = Array.from({ length: chance.below(8) }, () => {
    const key = chance.pick(keys)
    return chance.pick([key, key.slice(0, -1), word(chance.below(4)), '\u00e9', '\n'])
  })
  const text = pieces.join('')
  const chunks: string[] = []
  for (let at = 0; at < text.length;) {
    const length = chance.below(5)
    chunks.push(text.slice(at, at + length))
    at += length
  }
  return { keys, text, chunks }
}

/** The definition of redaction, in the simplest form: mark what every occurrence covers, then replace each run. */
function covered(text: string, keys: readonly string[]): string {
  const from = new Set<number>()
  const joined = new Set<number>()
  const gone = new Set<number>()
  for (const key of keys) {
    for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + 1)) {
      from.add(at)
      for (let index = at; index < at + key.length; index += 1) {
        gone.add(index)
        if (index > at) joined.add(index)
      }
    }
  }
  // A run starts at an occurrence that no earlier one overlaps.
  return text
    .split('')
    .map((unit, at) =>
      gone.has(at) ? (from.has(at) && !joined.has(at) ? KEY_PLACEHOLDER : '') : unit,
    )
    .join('')
}

function streamed(redactor: Redactor, chunks: readonly string[]): string[] {
  const stream = redactor.textStream()
  return [...chunks.map((chunk) => stream.push(chunk)), stream.end()]
}

function streamedBytes(redactor: Redactor, chunks: readonly string[]): Buffer[] {
  const stream = redactor.byteStream()
  return [...chunks.map((chunk) => stream.push(Buffer.from(chunk, 'latin1'))), stream.end()]
}
