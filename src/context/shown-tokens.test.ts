import { expect, test } from 'vitest'
import { ResourceId } from '../model/ids.ts'
import type { AnsweredCall } from './answered-calls.ts'
import { shownTokens } from './shown-tokens.ts'

const [A, B, C] = [1, 2, 3].map((n) => ResourceId.parse(`res_01kg8m2q3r4s5t6v7w8x9y0z1${n}`))

function call(
  tokens: number,
  textBytes: number,
  resourceBytes: AnsweredCall['resourceBytes'] = new Map(),
) {
  return {
    at: 0,
    tokens,
    textBytes,
    resourceBytes,
    continuesPrevious: true,
    cachedNothing: false,
    cost: 0,
  }
}

function showing(...all: readonly (readonly [ResourceId | undefined, number])[]) {
  return new Map(all.flatMap(([id, bytes]) => (id === undefined ? [] : [[id, bytes] as const])))
}

test('requests that differ only in text give the cost of a byte of text', () => {
  const shown = showing([A, 5_000])
  const calls = [{ ...call(1_000, 3_000), continuesPrevious: false }, call(4_000, 6_000, shown)]
  expect(shownTokens(calls).perByte).toBe((5_000 + 1_000) / (20_000 + 3_000))
  const more = [...calls, call(94_000, 306_000, shown)]
  expect(shownTokens(more).perByte).toBe((5_000 + 91_000) / (20_000 + 303_000))
})

test('cost that text does not account for is shared by the newly shown Resources, by bytes', () => {
  const first = showing([A, 4_000], [B, 12_000])
  const calls = [
    { ...call(1_000, 4_000), continuesPrevious: false },
    call(3_000, 8_000, first),
    call(3_500, 10_000, first),
    call(9_000, 10_000, showing([A, 4_000], [B, 12_000], [C, 100])),
    // The share of a retired Resource is no longer counted.
    call(8_750, 10_000, showing([B, 12_000], [C, 100])),
  ]
  expect(shownTokens(calls)).toEqual({
    perByte: 1 / 4,
    of: new Map([
      [A, 250],
      [B, 750],
      [C, 5_500],
    ]),
  })
})

test('a request that does not extend the previous one is evaluated alone', () => {
  const calls = [
    call(1_000, 4_000),
    { ...call(1_700, 800, showing([A, 9])), continuesPrevious: false },
  ]
  expect(shownTokens(calls).of).toEqual(new Map([[A, 1_500]]))
})

test('without earlier requests, a token counts as four bytes', () => {
  expect(shownTokens([])).toEqual({ perByte: 1 / 4, of: new Map() })
  expect(shownTokens([call(3_000, 4_000, showing([A, 9]))]).of).toEqual(new Map([[A, 2_000]]))
})
