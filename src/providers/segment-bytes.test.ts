import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { wellFormedJson } from '../encoding/json.ts'
import { BASE64, put, segment, showing } from './segment-bytes.ts'

const json = (data: string) => wellFormedJson({ title: 'é', data, more: BASE64 })

test('JSON that shows a file has the bytes of JSON that holds its base64', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (array) => {
      const file = Buffer.from(array)
      const shown = segment('user', showing(file, json(BASE64)), 3)
      const said = segment('user', json(file.toString('base64')), 3)
      expect(shown).toEqual(said)
    }),
  )
})

test.each([0, 1, 2, 3, 100_000])(
  'a file of %i bytes is written between what stands around it',
  (size) => {
    const shown = segment('user', showing(randomBytes(size), json(BASE64)))
    const body = Buffer.alloc(shown.length + 2, '.')
    expect(put(shown, body, 1)).toBe(body.length - 1)
    expect(body.toString()).toBe(`.${shown.bytes.toString()}.`)
  },
)
