import { chmod, link, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { systemClock } from '../clock.ts'
import { diskFolder } from '../files/disk.ts'
import { systemIds } from '../ids.ts'
import { serverToken } from './token-file.ts'

const ids = systemIds(systemClock)

async function home() {
  const path = await freshFolder()
  const folder = await diskFolder(path)
  onTestFinished(() => folder.close())
  return { file: join(path, 'token'), read: () => serverToken(folder, ids) }
}

test('a token is created once, private, with 256 bits, and kept', async () => {
  const { file, read } = await home()
  const first = await read()
  const other = await (await home()).read()
  expect(first).toMatchObject({ ok: true, value: expect.stringMatching(/^[\w-]{43}$/) })
  expect([await read(), other]).toEqual([first, expect.not.objectContaining(first)])
  expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600')
  expect(await readFile(file, 'utf8')).toBe(`${first.ok && first.value}\n`)
})

test('a token that others can read, or could replace, is refused and stays as it is', async () => {
  const refusal = { ok: false, error: { kind: 'permission_denied' } }
  const { file, read } = await home()
  await read()
  const before = await readFile(file, 'utf8')
  for (const mode of [0o640, 0o604, 0o620, 0o666]) {
    await chmod(file, mode)
    expect(await read()).toMatchObject(refusal)
  }
  await chmod(file, 0o600)
  await link(file, `${file}-2`)
  expect(await read()).toMatchObject(refusal)
  expect(await readFile(file, 'utf8')).toBe(before)
})

test('a link in place of the token is refused', async () => {
  const { file, read } = await home()
  await read()
  await rename(file, `${file}-moved`)
  await symlink(`${file}-moved`, file)
  expect(await read()).toMatchObject({ ok: false, error: { kind: 'not_regular_file' } })
})

test.each(['', 'short', `${'a'.repeat(43)} x`, 'ä'.repeat(43)])(
  'a file with "%s" is not a token',
  async (content) => {
    const { file, read } = await home()
    await writeFile(file, content, { mode: 0o600 })
    expect(await read()).toMatchObject({ ok: false, error: { kind: 'permission_denied' } })
  },
)
