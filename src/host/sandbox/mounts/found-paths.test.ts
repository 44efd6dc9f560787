import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { foundPaths } from './found-paths.ts'

const SOCKETS = ['-type', 's', '-print0']

test('without find, a search fails instead of finding nothing', async () => {
  const searching = foundPaths(['/'], SOCKETS, Promise.resolve(undefined))
  await expect(searching).rejects.toMatchObject({ code: 'NO_FIND' })
})

test('a search that was killed fails, also after it has printed some paths', async () => {
  const program = join(await freshFolder(), 'find')
  await writeFile(program, `#!/bin/sh\nprintf '/one\\0'\nkill -KILL $$\n`)
  await chmod(program, 0o755)
  const searching = foundPaths(['/'], SOCKETS, Promise.resolve(program))
  await expect(searching).rejects.toMatchObject({ code: 'ETIMEDOUT' })
})

test('nothing is started to search no folder', async () => {
  expect(await foundPaths([], SOCKETS, Promise.resolve('/not/there'))).toEqual([])
})
