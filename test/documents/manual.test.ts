import { expect, test } from 'vitest'
import { COMMANDS } from '../../src/presenters/cli/command-table.ts'
import { manual, text } from './manual.ts'

test('the manual has every command, argument and option', () => {
  const lines = manual().split('\n')
  for (const { name, args = [], options } of COMMANDS) {
    const from = lines.findIndex((line) => line.startsWith(`.SS "hawser ${text(name)}`))
    expect([name, from > 0]).toEqual([name, true])
    const end = lines.findIndex((line, at) => at > from && /^\.S[SH] /.test(line))
    const own = lines.slice(from, end)
    for (const term of [...args.map((arg) => arg.name), ...options.map(({ flags }) => flags)]) {
      expect(own).toContain(`.B ${text(term)}`)
    }
  }
})

test('every line is text or a known macro, and no text is mistaken for one', () => {
  const macros = new Set(['.TH', '.SH', '.SS', '.PP', '.TP', '.B', '.RI', '.EX', '.EE'])
  const controls = manual()
    .split('\n')
    .filter((line) => /^[.']/.test(line))
  expect(controls.filter((line) => !macros.has(line.split(' ')[0] ?? ''))).toEqual([])
  expect(text(String.raw`a\b 'c' ~/-x`)).toBe(String.raw`a\eb \(aqc\(aq \(ti/\-x`)
})
