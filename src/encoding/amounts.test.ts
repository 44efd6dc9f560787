import { expect, test } from 'vitest'
import { countOf, fileSize, shownBytes } from './amounts.ts'

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [100_000, '100,000 bytes'],
  [104_858, '0.1 MiB'],
  [1_572_864, '1.5 MiB'],
  [1_073_741_824, '1.0 GiB'],
])('%d bytes are shown as %s', (bytes, shown) => {
  expect(shownBytes(bytes)).toBe(shown)
})

test('a count of one is singular, and every other count is plural', () => {
  expect([0, 1, 1234].map((count) => countOf(count, 'Turn'))).toEqual([
    '0 Turns',
    '1 Turn',
    '1,234 Turns',
  ])
})

test.each([
  [0, '0 bytes'],
  [1023, '1,023 bytes'],
  [1024, '1.0 KiB'],
  [12_595, '12.3 KiB'],
  [1_048_524, '1023.9 KiB'],
  [1_048_570, '1.0 MiB'],
  [10_485_760, '10.0 MiB'],
])('a file of %d bytes is listed with %s', (bytes, shown) => {
  expect(fileSize(bytes)).toBe(shown)
})
