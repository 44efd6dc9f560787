import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { writeClipboard } from './clipboard-writer.ts'

/** Programs that store what they receive, each in a file of its name, or fail. */
async function programs(works: readonly string[], fails: readonly string[] = []) {
  const folder = await freshFolder()
  for (const name of [...works, ...fails]) {
    const end = fails.includes(name) ? 'exit 1' : 'exit 0'
    const script = `#!/bin/sh\necho "$@" > ${folder}/${name}.args\ncat > ${folder}/${name}.in\n${end}\n`
    await writeFile(join(folder, name), script)
    await chmod(join(folder, name), 0o755)
  }
  const find = async (name: string) =>
    [...works, ...fails].includes(name) ? join(folder, name) : undefined
  return { folder, find, platform: 'linux' }
}

const BOTH = { WAYLAND_DISPLAY: 'w', DISPLAY: ':0' }

test('the first program that can copies the whole text', async () => {
  const at = await programs(['xclip'], ['wl-copy'])
  expect(await writeClipboard('é\n'.repeat(9), { ...at, env: BOTH })).toBe('xclip')
  expect(await readFile(join(at.folder, 'xclip.in'), 'utf8')).toBe('é\n'.repeat(9))
  expect(await readFile(join(at.folder, 'xclip.args'), 'utf8')).toBe('-selection clipboard -in\n')
})

test('Windows receives UTF-16 with a mark', async () => {
  const at = await programs(['clip.exe'])
  expect(await writeClipboard('é', { ...at, env: { WSL_DISTRO_NAME: 'd' } })).toBe('clip.exe')
  const bytes = await readFile(join(at.folder, 'clip.exe.in'))
  expect(bytes.toString('hex')).toBe('fffee900')
})

test('without a display, a program or one that works, nothing is copied', async () => {
  const at = await programs([], ['xclip'])
  expect(await writeClipboard('a', { ...at, env: {} })).toBeUndefined()
  expect(await writeClipboard('a', { ...at, env: BOTH })).toBeUndefined()
  const none = { env: BOTH, platform: 'darwin', find: async () => undefined }
  expect(await writeClipboard('a', none)).toBeUndefined()
})
