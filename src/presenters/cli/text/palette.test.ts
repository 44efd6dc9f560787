import { expect, test } from 'vitest'
import { paintLine } from './cell-width.ts'
import { backgroundOf, paletteOf, terminalColours } from './palette.ts'

const PLAIN_TERMINAL = terminalColours({ TERM: 'xterm' })
const WORDS = [
  { text: 'a', style: { dim: true } },
  { text: 'b', style: { colour: 'yellow' } },
] as const

test.each([
  ['rgb:ffff/ffff/ffff', 'light'],
  ['rgb:fdfd/f6f6/e3e3', 'light'],
  ['rgb:0000/2b2b/3636', 'dark'],
  ['rgb:1e/1e/2e', 'dark'],
  ['rgba:0/0/0/ffff', 'dark'],
  ['no colour', undefined],
])('a terminal that reports %s has a background that is %s', (report, background) => {
  expect(backgroundOf(report)).toBe(background)
})

test('the environment may name the background, the number of colours and links', () => {
  expect(terminalColours({ TERM: 'xterm-256color', COLORFGBG: '0;15' })).toEqual({
    many: true,
    links: false,
    reports: true,
    background: 'light',
  })
  expect(terminalColours({ TERM: 'xterm', COLORFGBG: '15;default;0' }).background).toBe('dark')
  expect(terminalColours({ TERM: 'xterm-kitty' }).links).toBe(true)
  expect(
    terminalColours({ TERM: 'tmux', TERM_PROGRAM: 'tmux', TERM_PROGRAM_VERSION: '3.3a' }).links,
  ).toBe(false)
  expect(
    terminalColours({ TERM: 'tmux', TERM_PROGRAM: 'tmux', TERM_PROGRAM_VERSION: '3.5' }).links,
  ).toBe(true)
  expect(terminalColours({})).toEqual({
    many: false,
    links: false,
    reports: false,
    background: undefined,
  })
})

test('auto follows the background; high contrast dims nothing; none has no colour', () => {
  const shown = (...order: Parameters<typeof paletteOf>) => paintLine(WORDS, paletteOf(...order))
  expect(shown('auto', PLAIN_TERMINAL)).toBe('\u001b[2ma\u001b[0m\u001b[33mb\u001b[0m')
  expect(shown('auto', PLAIN_TERMINAL, 'light')).toBe(shown('light', PLAIN_TERMINAL))
  expect(shown('light', PLAIN_TERMINAL)).not.toContain('33m')
  expect(shown('high-contrast', PLAIN_TERMINAL)).toBe('a\u001b[1;93mb\u001b[0m')
  expect(shown('none', PLAIN_TERMINAL)).toBe('\u001b[2ma\u001b[0mb')
})

test('without 256 colours, none of them is used', () => {
  for (const theme of ['auto', 'dark', 'light', 'high-contrast', 'none'] as const)
    for (const background of ['dark', 'light'] as const) {
      const line = [{ text: 'a', style: { colour: 'cyan', change: 'added' } }] as const
      expect(paintLine(line, paletteOf(theme, PLAIN_TERMINAL, background))).not.toContain('8;5;')
    }
})

test('a link is a link where the terminal opens links, and its address ends no sequence', () => {
  const line = [{ text: 'a', style: { link: 'https://b.c/\u0007\u001b]' } }] as const
  expect(paintLine(line, paletteOf('dark', PLAIN_TERMINAL))).toBe('a')
  expect(paintLine(line, paletteOf('dark', { ...PLAIN_TERMINAL, links: true }))).toBe(
    '\u001b]8;;https://b.c/\\u{7}\\u{1b}]\u001b\\a\u001b]8;;\u001b\\',
  )
})
