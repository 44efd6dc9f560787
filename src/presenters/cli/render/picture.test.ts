import { expect, test } from 'vitest'
import { VirtualTerminal } from '../../../../test/support/cli/virtual-terminal.ts'
import { itermBytes, kittyBytes, pictureOf, pictureWays, standing } from './picture.ts'

const AREA = { columns: 4, rows: 2 }
const ROOM = { columns: 80, rows: 24 }
const BOTH = { kitty: true, iterm: true }

test.each([
  [{ KITTY_WINDOW_ID: '1' }, 'kitty'],
  [{ TERM: 'xterm-kitty' }, 'kitty'],
  [{ TERM: 'xterm-ghostty' }, 'kitty'],
  [{ TERM_PROGRAM: 'ghostty' }, 'kitty'],
  [{ TERM_PROGRAM: 'WezTerm' }, 'kitty iterm'],
  [{ TERM_PROGRAM: 'iTerm.app', NO_COLOR: '1' }, 'iterm'],
  [{ LC_TERMINAL: 'iTerm2', TERM: 'xterm-256color' }, 'iterm'],
  [{ TERM: 'xterm-256color' }, ''],
  [{}, ''],
  [{ KITTY_WINDOW_ID: '1', TMUX: '/tmp/tmux-0/default,1,0' }, ''],
  [{ LC_TERMINAL: 'iTerm2', STY: '1.pts' }, ''],
  [{ LC_TERMINAL: 'iTerm2', TERM: 'screen-256color' }, ''],
  [{ KITTY_WINDOW_ID: '1', TERM: 'dumb' }, ''],
])('a terminal with %j draws with %j', (env, ways) => {
  const { kitty, iterm } = pictureWays(env)
  expect([...(kitty ? ['kitty'] : []), ...(iterm ? ['iterm'] : [])].join(' ')).toBe(ways)
})

test('a small PNG goes to kitty in one piece', () => {
  expect(kittyBytes(Buffer.from('png'), AREA)).toBe(
    '\u001b_Ga=T,f=100,C=1,c=4,r=2,q=2,m=0;cG5n\u001b\\',
  )
})

test('a larger one is sent in chunks of 4096 characters, and only the first describes it', () => {
  const png = Buffer.alloc(3072 * 2 + 3, 'a')
  const letters = png.toString('base64')
  expect(kittyBytes(png, AREA)).toBe(
    [
      `\u001b_Ga=T,f=100,C=1,c=4,r=2,q=2,m=1;${letters.slice(0, 4096)}\u001b\\`,
      `\u001b_Gq=2,m=1;${letters.slice(4096, 8192)}\u001b\\`,
      `\u001b_Gq=2,m=0;${letters.slice(8192)}\u001b\\`,
    ].join(''),
  )
})

test('iTerm2 gets the unmodified file', () => {
  expect(itermBytes(Buffer.from('gif'), AREA)).toBe(
    '\u001b]1337;File=inline=1;size=3;width=4;height=2;preserveAspectRatio=1;doNotMoveCursor=1:Z2lm\u0007',
  )
})

function image(width: number, height: number, media_type = 'image/png') {
  return { bytes: Buffer.from('x'), media_type, width, height }
}

test.each([
  ['a large image fills the available rows', 640, 480, 12, 32],
  ['a wide one fills the columns', 4000, 100, 1, 72],
  ['a small one stays small', 40, 40, 2, 4],
  ['one pixel has a cell', 1, 1, 1, 1],
])('%s', (_what, width, height, tall, wide) => {
  const drawn = pictureOf(image(width, height), BOTH, ROOM)
  expect([drawn?.rows, /c=(\d+)/.exec(drawn?.bytes ?? '')?.[1]]).toEqual([tall, String(wide)])
})

test('kitty draws only PNG, iTerm2 other formats, and neither draws images that are too large or do not fit', () => {
  const kitty = { kitty: true, iterm: false }
  expect(pictureOf(image(9, 9, 'image/jpeg'), kitty, ROOM)).toBeUndefined()
  expect(pictureOf(image(9, 9, 'image/jpeg'), BOTH, ROOM)?.bytes).toContain(']1337;')
  expect(pictureOf(image(9, 9), BOTH, ROOM)?.bytes).toContain('_Ga=T')
  expect(pictureOf(image(9, 9), { kitty: false, iterm: false }, ROOM)).toBeUndefined()
  expect(pictureOf(image(9, 9), BOTH, { columns: 80, rows: 9 })).toBeUndefined()
  const large = { ...image(9, 9), bytes: Buffer.alloc(1024 * 1024 + 1) }
  expect(pictureOf(large, BOTH, ROOM)).toBeUndefined()
  expect(pictureOf({ ...large, bytes: large.bytes.subarray(1) }, BOTH, ROOM)).toBeDefined()
})

test.each([0, 22])('drawn %i rows from the top, later output is below it', async (above) => {
  const terminal = new VirtualTerminal(80, 24)
  const drawn = pictureOf(image(200, 100), BOTH, ROOM)
  const text = `${'above\r\n'.repeat(above)}${drawn === undefined ? '' : standing(drawn)}below`
  await terminal.write(text)
  const rows = terminal.all().filter((row, at) => row !== '' || at < above + 6)
  expect(rows).toEqual([
    ...Array.from({ length: above }, () => 'above'),
    '',
    '',
    '',
    '',
    '',
    'below',
  ])
})
