import { expect, test } from 'vitest'
import { lineWidth, type Line } from '../text/cell-width.ts'
import { statusLine, type StatusFacts } from './status-line.ts'

const FACTS: StatusFacts = {
  mode: 'build',
  permission_mode: 'ask',
  model: 'claude-opus-4-5',
  effort: 'high',
  workspace: '/home/me/harbour',
  branch: 'main',
  pressure: { tier: 'warning', ratio: 0.8199, window_tokens: 200_000 },
  cost_usd: 1.234,
  queueLength: 2,
  keys: ['Esc interrupts', 'Enter steers', 'Tab queues'],
}

const words = (line: Line) => line.map(({ text }) => text).join('')

test.each([
  [
    200,
    'ask · claude-opus-4-5 high · 81 % of the window · $1.23 · harbour (main) · 2 queued · Esc interrupts · Enter steers · Tab queues',
  ],
  [
    120,
    'ask · claude-opus-4-5 high · 81 % · $1.23 · harbour (main) · 2 queued · Esc interrupts · Enter steers · Tab queues',
  ],
  [80, 'ask · claude-opus-4-5 high · 81 % · $1.23 · 2 queued · Esc interrupts'],
  [60, 'ask · claude-opus-4-5 · 81 % · 2 queued · Esc interrupts'],
  [20, 'ask · Esc interrupts'],
  [4, 'ask'],
])('a status line of %i columns leaves out the least important', (columns, expected) => {
  const line = statusLine(FACTS, columns)
  expect(words(line)).toBe(expected)
  expect(lineWidth(line)).toBeLessThanOrEqual(columns)
})

test('the share of the window has the colour of its tier', () => {
  const colourAt = (tier: 'none' | 'warning' | 'critical') => {
    const pressure = { tier, ratio: 0.5, window_tokens: 1 }
    return statusLine({ ...FACTS, pressure }, 200).find(({ text }) => text.includes('%'))?.style
      .colour
  }
  expect(['none', 'warning', 'critical'].map((tier) => colourAt(tier as 'none'))).toEqual([
    undefined,
    'yellow',
    'red',
  ])
})

test('what is unknown is not shown', () => {
  const facts = {
    ...FACTS,
    effort: undefined,
    branch: undefined,
    cost_usd: undefined,
    queueLength: 0,
  }
  const line = statusLine({ ...facts, pressure: 'unavailable', keys: ['/help'] }, 80)
  expect(words(line)).toBe('ask · claude-opus-4-5 · harbour · /help')
})
