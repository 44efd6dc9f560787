import { expect, test } from 'vitest'
import { freshFolder } from '../host/folder.ts'
import { openPty } from './pty.ts'

test('a program in a pseudoterminal can be read, typed to and resized', async () => {
  const script = `
    process.stdin.setRawMode(true)
    process.stdin.on('data', (bytes) => {
      if (String(bytes) === 'q') process.exit(7)
      process.stdout.write('got ' + bytes + '\\n')
    })
    process.stdout.on('resize', () => process.stdout.write(process.stdout.columns + ' wide\\n'))
    process.stdout.write('\\x07ready\\n')`
  const cwd = await freshFolder()
  const pty = openPty(process.execPath, ['-e', script], { columns: 40, rows: 5, cwd })
  await pty.until('ready')
  pty.write('ä')
  await pty.until(/^got ä$/m)
  await pty.resize(60, 5)
  await pty.until((rows) => rows[2] === '60 wide')
  pty.write('q')
  expect(await pty.ended).toEqual({ code: 7, signal: 0 })
  expect([pty.terminal.bells, pty.raw()]).toEqual([1, '\x07ready\r\ngot ä\r\n60 wide\r\n'])
})

test('every drawing is seen, also one that the next one replaces at once', async () => {
  const script = `
    const drawing = (text) => '\\x1b[?2026h\\r' + text + '\\x1b[?2026l'
    process.stdin.once('data', () => process.exit())
    process.stdout.write(['one', 'two', 'three'].map(drawing).join(''))`
  const cwd = await freshFolder()
  const pty = openPty(process.execPath, ['-e', script], { columns: 40, rows: 5, cwd })
  for (const text of ['one', 'two', 'three']) {
    await pty.until(text)
    expect(pty.terminal.screen()[0]).toBe(text)
  }
  pty.write('\r')
  expect((await pty.ended).code).toBe(0)
})
