import { expect, expectTypeOf, test } from 'vitest'
import { definedFields } from './defined-fields.ts'

interface Strict {
  readonly id: string
  readonly size?: number
  readonly none?: null
}

const maybe = (size: number | undefined): Strict => ({ id: 'x', ...definedFields({ size }) })

test('an undefined field is absent, and every other value stays', () => {
  expect(Object.keys(maybe(undefined))).toEqual(['id'])
  expect(maybe(0)).toStrictEqual({ id: 'x', size: 0 })
  const falsy = { a: null, b: false, c: '', d: 0, e: undefined }
  expect(definedFields(falsy)).toStrictEqual({ a: null, b: false, c: '', d: 0 })
})

test('fields keep their order, and the object that was passed is not changed', () => {
  const fields = { b: 1, none: undefined, a: 2 }
  expect(Object.keys(definedFields(fields))).toEqual(['b', 'a'])
  expect(Object.keys(fields)).toEqual(['b', 'none', 'a'])
})

test('a field that may be undefined is optional in the type, and no other is', () => {
  const id: string = 'x'
  const size = (): number | undefined => 1
  const found = definedFields({ id, size: size(), none: null })
  expectTypeOf(found.id).toEqualTypeOf<string>()
  expectTypeOf(found.none).toEqualTypeOf<null>()
  expectTypeOf<Required<typeof found>['size']>().toEqualTypeOf<number>()
  expectTypeOf(found).toExtend<Strict>()
  expectTypeOf({ id, size: size() }).not.toExtend<Strict>()
})
