import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { openInBrowser } from './browser.ts'

test.each([
  ['linux', {}, undefined],
  ['linux', { DISPLAY: '' }, undefined],
  ['linux', { DISPLAY: ':0' }, 'xdg-open'],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, 'xdg-open'],
  ['linux', { DISPLAY: 'localhost:10.0', SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }, undefined],
  ['darwin', {}, 'open'],
  ['darwin', { SSH_TTY: '/dev/ttys001' }, undefined],
] as const)('on %s with %j, the program is %s', async (platform, env, expected) => {
  const looked: string[] = []
  const find = async (name: string) => {
    looked.push(name)
    return undefined
  }
  expect(await openInBrowser('/page.html', { env, platform, find })).toBe(false)
  expect(looked).toEqual(expected === undefined ? [] : [expected])
})

test('the program gets the path and what a desktop needs, but no key', async () => {
  const folder = await freshFolder()
  const [program, out] = [join(folder, 'opener'), join(folder, 'out')]
  await writeFile(program, `#!/bin/sh\n(echo "$1"; env) > ${out}.new; mv ${out}.new ${out}\n`)
  await chmod(program, 0o700)
  const env = { PATH: process.env['PATH'], DISPLAY: ':0', XDG_SEAT: 'seat0', OPENAI_API_KEY: 'k' }
  const parts = { env, platform: 'linux', find: async () => program }
  expect(await openInBrowser('/a b.html', parts)).toBe(true)
  await expect.poll(() => readFile(out, 'utf8').catch(() => '')).toContain('/a b.html\n')
  const text = await readFile(out, 'utf8')
  expect([text.includes('XDG_SEAT=seat0'), text.includes('API_KEY')]).toEqual([true, false])
})

test('a program that cannot be started is not a browser', async () => {
  const env = { DISPLAY: ':0' }
  const find = async () => '/nowhere/at/all'
  expect(await openInBrowser('/page.html', { env, platform: 'linux', find })).toBe(false)
})
