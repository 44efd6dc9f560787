import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { appFiles } from './app-files.ts'

test('only files of the app are served, by their exact names, and all of one version', async () => {
  const root = await freshFolder()
  const app = join(root, 'web')
  const files = appFiles(app)
  expect(await files.file('index.html')).toBeUndefined()
  await mkdir(join(app, 'assets'), { recursive: true })
  await writeFile(join(root, 'token'), 'secret')
  await writeFile(join(app, 'index.html'), '<p>one</p>')
  await writeFile(join(app, 'assets', 'a.js'), 'one()')
  await writeFile(join(app, 'assets', 'a.js.map'), '{}')
  const page = await files.file('index.html')
  expect([page?.type, Buffer.from(page?.bytes ?? []).toString()]).toEqual([
    'text/html; charset=UTF-8',
    '<p>one</p>',
  ])
  await writeFile(join(app, 'assets', 'a.js'), 'two()')
  const script = await files.file('assets/a.js')
  expect(Buffer.from(script?.bytes ?? []).toString()).toBe('one()')
  for (const name of [
    '../token',
    'assets/../../token',
    'assets/a.js.map',
    'a.js',
    '',
    '/etc/passwd',
  ])
    expect(await files.file(name)).toBeUndefined()
})
