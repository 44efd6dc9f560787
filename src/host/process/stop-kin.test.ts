import { expect, test } from 'vitest'
import { fromTheTop } from './stop-kin.ts'

test('processes are ordered so that each follows its parent, whatever the order of the list', () => {
  const one = (pid: number, parent: number) => ({ pid, parent, group: 7, since: '1', state: 'S' })
  // The parent of 3 is not listed: it has ended since.
  const kin = [one(9, 8), one(3, 2), one(8, 7), one(7, 1), one(6, 9), one(5, 7)]
  const order = fromTheTop(7, kin).map(({ pid }) => pid)
  expect(order.toSorted((a, b) => a - b)).toEqual([3, 5, 6, 7, 8, 9])
  const before = (a: number, b: number) => order.indexOf(a) < order.indexOf(b)
  expect([before(7, 8), before(8, 9), before(9, 6), before(7, 5)]).toEqual([true, true, true, true])
})
