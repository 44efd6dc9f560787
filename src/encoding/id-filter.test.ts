import { expect, test } from 'vitest'
import { random } from '../../test/support/host/random.ts'
import { IdFilter } from './id-filter.ts'

function ids(seed: number, count: number): string[] {
  const chance = random(seed)
  return Array.from({ length: count }, (_, n) => `call_${n}_${chance.below(1_000_000_000)}`)
}

test('a filter never forgets an id, also after it was stored', () => {
  const added = ids(1, 5_000)
  let filter = new IdFilter()
  for (const [n, id] of added.entries()) {
    filter.add(id)
    if (n % 500 === 0) filter = new IdFilter(filter.toBase64())
  }
  expect(added.every((id) => filter.mayContain(id))).toBe(true)
  expect(filter.toBase64()).toHaveLength(new IdFilter().toBase64().length)
})

test('of 5,000 ids, a filter takes less than two percent of other ids for known', () => {
  const filter = new IdFilter()
  for (const id of ids(1, 5_000)) filter.add(id)
  const wrong = ids(2, 5_000).filter((id) => filter.mayContain(`other ${id}`))
  expect(wrong.length).toBeLessThan(100)
})

test('an empty filter knows no id, and a damaged one knows every id', () => {
  expect(new IdFilter().mayContain('call_1')).toBe(false)
  expect(new IdFilter('damaged').mayContain('call_1')).toBe(true)
})

test('a smaller filter never forgets an id, and one of another size contains every id', () => {
  const added = ids(3, 2_000)
  let filter = new IdFilter(undefined, 4_096)
  for (const [n, id] of added.entries()) {
    filter.add(id)
    if (n % 500 === 0) filter = new IdFilter(filter.toBase64(), 4_096)
  }
  expect(added.every((id) => filter.mayContain(id))).toBe(true)
  expect(filter.mayContain('another 3')).toBe(false)
  expect(Buffer.from(filter.toBase64(), 'base64')).toHaveLength(4_096)
  expect(new IdFilter(filter.toBase64()).mayContain('another 3')).toBe(true)
})
