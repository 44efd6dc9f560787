import { expect, test } from 'vitest'
import { budgetOffences, budgetRows, linesOf } from './line-budgets.ts'

const lines = (count: number) => 'const a = 1\n'.repeat(count)
const TREE = new Map([
  ['src/log/append.ts', lines(70)],
  ['src/log/deep/read.ts', lines(30)],
  ['src/log/append.test.ts', lines(500)],
  ['src/main.ts', lines(300)],
  ['rehearse/src/serve.ts', lines(10)],
  ['rehearse/vendor-schemas/a.json', '{\n}\n'],
])

test('the lines of a folder are those of its code, and in rehearse also those of its data', () => {
  expect(linesOf(TREE, 'src/log')).toBe(100)
  expect(linesOf(TREE, 'rehearse')).toBe(12)
})

test('a folder may have three per cent more lines than were measured, and no more', () => {
  const rehearse = { measured: 12 }
  expect(budgetOffences(TREE, { 'src/log': { measured: 97 }, rehearse })).toEqual([])
  expect(budgetOffences(TREE, { 'src/log': { measured: 96 }, rehearse })).toEqual([
    'src/log has 100 lines, its budget is 99; remove some, or raise it with a reason',
  ])
})

test('a budget is raised with a reason', () => {
  const rehearse = { measured: 12 }
  const raisedFor = (reason: string) => ({
    'src/log': { measured: 60, raised: [{ by: 40, reason }] },
    rehearse,
  })
  expect(budgetOffences(TREE, raisedFor('forks share lines by reference'))).toEqual([])
  expect(budgetOffences(TREE, raisedFor('forks'))).toEqual([
    'the budget of src/log is raised without a reason',
  ])
})

test('every folder has a budget, and every budget a folder', () => {
  expect(
    budgetOffences(TREE, { 'src/fog': { measured: 100 }, rehearse: { measured: 12 } }),
  ).toEqual([
    'src/log has no budget in line-budgets.ts',
    'line-budgets.ts names src/fog, which does not exist',
  ])
})

test('the rows of a new table are those of today', () => {
  expect(budgetRows(new Map([...TREE, ['src/log/long.ts', lines(1_900)]]))).toEqual([
    "  'src/log': { measured: 2_000 },",
    '  rehearse: { measured: 12 },',
  ])
})
