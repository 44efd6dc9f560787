import { expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import { boundedText, openObject, utf8Bytes, type Frozen } from './shape.ts'

test('an open object keeps unknown fields and leaves them out of its type', () => {
  const Point = openObject(() => ({ x: z.number() }))
  expect(Point.parse({ x: 1, y: 2 })).toEqual({ x: 1, y: 2 })
  expectTypeOf<z.infer<typeof Point>>().toEqualTypeOf<{ x: number }>()
})

test('the limit of a text counts bytes, not characters', () => {
  expect(utf8Bytes('aé€😀')).toBe(1 + 2 + 3 + 4)
  const accepts = (text: string) => boundedText(1, 4).safeParse(text).success
  expect([accepts(''), accepts('a'), accepts('😀'), accepts('😀a')]).toEqual([
    false,
    true,
    true,
    false,
  ])
})

test('a frozen type is read-only at every depth', () => {
  expectTypeOf<Frozen<{ a: { b: string[] }[]; c?: unknown }>>().toEqualTypeOf<{
    readonly a: readonly { readonly b: readonly string[] }[]
    readonly c?: unknown
  }>()
})
