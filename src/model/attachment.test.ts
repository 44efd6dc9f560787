import { expect, test } from 'vitest'
import { AttachmentError } from './attachment.ts'

const REFUSED = {
  code: 'too_large',
  name: 'a.png',
  reason: 'it is too large',
  limit: 10,
  actual: 11,
}

test('a refused attachment is kept with its code, name and reason [AT-022]', () => {
  expect(AttachmentError.parse(REFUSED)).toEqual(REFUSED)
  for (const field of ['code', 'name', 'reason']) {
    expect(AttachmentError.safeParse({ ...REFUSED, [field]: undefined }).success).toBe(false)
  }
  expect(Object.keys(AttachmentError.shape)).not.toContain('path')
})

test('a refused attachment has a known code', () => {
  expect(AttachmentError.safeParse({ ...REFUSED, code: 'ugly' }).success).toBe(false)
})
