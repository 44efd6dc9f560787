import { expect, test } from 'vitest'
import { terminalColours } from '../text/palette.ts'
import { ChatColours } from './chat-colours.ts'

const LINE = { colour: 'yellow' } as const

function coloursOn(env: Readonly<Record<string, string>>, colour = true) {
  const codes: string[] = []
  const colours = new ChatColours({ colour, terminal: terminalColours(env) }, (palette) => {
    codes.push(palette === false ? 'none' : palette.codes(LINE))
  })
  return { colours, codes }
}

test('the background that the terminal reports decides the palette, once', () => {
  const { colours, codes } = coloursOn({ TERM: 'xterm-256color' })
  expect(colours.asksBackground).toBe(true)
  colours.takeReport('11;rgb:0000/0000/0000')
  expect(codes).toEqual(['33'])
  colours.takeReport('11;rgb:ffff/ffff/ffff')
  colours.takeReport('11;rgb:ffff/ffff/ffff')
  expect(codes).toEqual(['33', '38;5;130'])
  colours.takeReport('11;?')
  colours.takeReport('10;rgb:0/0/0')
  expect(codes.length).toBe(2)
})

test('a theme that a person chooses does not depend on the background', () => {
  const { colours, codes } = coloursOn({ TERM: 'xterm' })
  colours.show('high-contrast')
  colours.show('high-contrast')
  expect([colours.theme, codes]).toEqual(['high-contrast', ['1;93']])
})

test.each([
  ['a terminal without colours', { TERM: 'xterm' }, false],
  ['a dumb terminal', { TERM: 'dumb' }, true],
  ['a terminal whose environment names it', { TERM: 'xterm', COLORFGBG: '0;15' }, true],
] as const)('%s is not asked for its background', (_, env, colour) => {
  expect(coloursOn(env, colour).colours.asksBackground).toBe(false)
})
