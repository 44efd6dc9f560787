import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonLine } from './json-line.ts'

test('the JSON of any value parses to the same value and cannot control a terminal', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const line = jsonLine({ text: text.toWellFormed() })
      expect(JSON.parse(line)).toEqual({ text: text.toWellFormed() })
      expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/u)
    }),
  )
  expect(jsonLine({ text: '\u009b2J\u202e\u{e0001}' })).toBe(
    '{"text":"\\u009b2J\\u202e\\udb40\\udc01"}\n',
  )
  expect(jsonLine({ text: '\u034f\u115f\u3164\ufe0f' })).toBe(
    '{"text":"\\u034f\\u115f\\u3164\\ufe0f"}\n',
  )
})
