import { expect, test } from 'vitest'
import { costRows, type TurnCostFacts } from './cost-command.ts'

function turn(number: number, cost_usd?: number): TurnCostFacts {
  const tokens = { input: 1_000, cached_read: 750, output: 20 }
  return { number, title: `Question ${number}\u001b`, ...tokens, cost_usd }
}

function shown(turns: readonly TurnCostFacts[], columns = 80): string[] {
  return costRows(turns, columns).map((row) =>
    row
      .map(({ text }) => text)
      .join('')
      .trimEnd(),
  )
}

test('the costs of Turns are a table with their cached share and a total', () => {
  expect(shown([turn(1, 0.0123), turn(2)])).toEqual([
    '  Turn     in  cached  out     cost',
    '     1  1,000    75 %   20  $0.0123  Question 1\\u{1b}',
    '     2  1,000    75 %   20        –  Question 2\\u{1b}',
    '        2,000    75 %   40  $0.0123  this Session',
    'The cost of 1 Turn is unknown.',
  ])
})

test('of many Turns, the latest are shown and all are counted, within the width of the terminal', () => {
  const rows = shown(
    Array.from({ length: 30 }, (_, at) => turn(at + 1, 1)),
    40,
  )
  expect(rows).toHaveLength(1 + 20 + 1 + 2)
  expect(rows.at(-3)).toContain('30,000')
  expect(rows.join(' ')).toContain('The latest 20 of 30 Turns')
  expect(rows.every((row) => row.length <= 40)).toBe(true)
})
