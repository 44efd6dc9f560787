import { appendFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openConfined } from '../../../src/host/files/confined-files.ts'
import { raceReads, raceWrites } from '../../faults/workspace/link-race-runs.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { value } from '../../support/log/story.ts'

test('if a file grows or is replaced while it is read, one version is read and never too much', async () => {
  const workspace = await freshFolder()
  const files = value(await openConfined(workspace, { refuse: [] }))
  const [path, next] = [join(workspace, 'x'), join(workspace, 'next')]
  const over = new AbortController()
  const changing = (async () => {
    for (let i = 0; !over.signal.aborted; i = (i + 1) % 26) {
      const letter = String.fromCodePoint(97 + i)
      await writeFile(next, letter.repeat(70_000))
      await rename(next, path)
      await appendFile(path, letter.repeat(70_000))
    }
  })()
  await writeFile(path, '')
  const wrong: string[] = []
  for (let i = 0; i < 500; i++) {
    const read = await files.read('x', 100_000)
    // A name that is replaced at the moment it is checked no longer has a name.
    if (!read.ok) continue
    const text = read.value.bytes.toString()
    if (text.length > 100_000 || new Set(text).size > 1) wrong.push(`${text.length} bytes`)
  }
  over.abort()
  await changing
  expect(wrong).toEqual([])
  await files.close()
})

test('links swapped in during reads leak nothing', async () => {
  const { violations } = await raceReads({ seed: 1, n: 2_000, folder: await freshFolder() })
  expect(violations).toEqual([])
})

test('links swapped in during writes leak nothing', async () => {
  const { violations } = await raceWrites({ seed: 1, n: 500, folder: await freshFolder() })
  expect(violations).toEqual([])
})
