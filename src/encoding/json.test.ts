import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  canonicalJson,
  depthWithin,
  isJsonObject,
  parseJson,
  valuesWithin,
  wellFormedJson,
} from './json.ts'

const anyText = fc.string({ unit: 'binary' })

test('JSON text is well formed, whatever text it contains', () => {
  fc.assert(
    fc.property(fc.dictionary(anyText, anyText), (value) => {
      const text = wellFormedJson(value)
      expect(text.isWellFormed()).toBe(true)
      for (const [key, child] of Object.entries(JSON.parse(text) as Record<string, string>)) {
        expect([key.isWellFormed(), child.isWellFormed()]).toEqual([true, true])
      }
    }),
  )
})

test('a lone surrogate becomes the replacement character, a pair and a spelt-out escape stay', () => {
  expect(wellFormedJson({ lone: 'a\ud800b', pair: '\u{1f6a2}', spelt: '\\ud800' })).toBe(
    '{"lone":"a\ufffdb","pair":"\u{1f6a2}","spelt":"\\\\ud800"}',
  )
})

test('equal values have equal canonical JSON, whatever order their keys were set in', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value)
      expect(canonicalJson(reversed(value))).toBe(text)
      expect(canonicalJson(JSON.parse(text))).toBe(text)
    }),
  )
  expect(canonicalJson({ b: 1, 10: 1, 9: 1, '!': 1 })).toBe('{"!":1,"10":1,"9":1,"b":1}')
  expect(canonicalJson([undefined, { at: new Date(0), none: undefined }])).toBe(
    '[null,{"at":"1970-01-01T00:00:00.000Z"}]',
  )
  expect(canonicalJson({ b: 1, a: { d: [2, { z: 0, y: 0 }], c: null } })).toBe(
    '{"a":{"c":null,"d":[2,{"y":0,"z":0}]},"b":1}',
  )
})

test('depth is counted in arrays and objects, and hostile depth is refused without overflow', () => {
  expect(depthWithin('text', 0)).toBe(true)
  expect(depthWithin([[]], 2)).toBe(true)
  expect(depthWithin([[{}]], 2)).toBe(false)
  expect(depthWithin(JSON.parse('['.repeat(200_000) + ']'.repeat(200_000)), 64)).toBe(false)
})

test('values are counted without parsing, and the content of strings does not count', () => {
  expect(valuesWithin('[1,2,{"a":3}]', 5)).toBe(true)
  expect(valuesWithin(`[${'[],'.repeat(1000)}0]`, 2002)).toBe(true)
  expect(valuesWithin(`[${'[],'.repeat(1000)}0]`, 1000)).toBe(false)
  expect(valuesWithin(JSON.stringify({ a: ',[{"\\'.repeat(100), b: '\\' }), 3)).toBe(true)
  expect(valuesWithin(`"${'\\"'.repeat(100)}`, 1)).toBe(true)
})

test('text that is not JSON parses to nothing, and only plain objects are objects', () => {
  expect(parseJson('{"a":')).toBeUndefined()
  expect([{}, [], null, 'x', 1].map(isJsonObject)).toEqual([true, false, false, false, false])
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, child]) => [key, reversed(child)]),
  )
}
