import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { composeWorkspace } from '../../../src/compose/workspace.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { value } from '../../support/log/story.ts'

const BY_MODEL = JSON.stringify({ compaction: { summary: 'model' } })

/** How a compaction would write its summary, with these files of settings. */
async function writerWith(files: { readonly user?: string; readonly workspace?: string }) {
  const root = await freshFolder()
  const [workspace, home] = [join(root, 'workspace'), join(root, 'home')]
  await mkdir(join(workspace, '.hawser'), { recursive: true, mode: 0o700 })
  await mkdir(home, { recursive: true, mode: 0o700 })
  if (files.user !== undefined) await writeFile(join(home, 'config.json'), files.user)
  if (files.workspace !== undefined)
    await writeFile(join(workspace, '.hawser', 'config.json'), files.workspace)
  const { harness, close } = value(
    await composeWorkspace(workspace, home, {
      presenter: 'test',
      version: '0.1.0',
      env: {},
      make: true,
    }),
  )
  onTestFinished(close)
  const session = value(await harness.create({ provider: 'rehearsal', model: 'rehearsal' }))
  for (let turn = 1; turn <= 4; turn += 1) {
    const { done } = value(await session.admit(`Harbour ${turn} is calm. `.repeat(200)))
    value(await done)
  }
  const { summary } = value(await session.previewCompaction())
  await session.close()
  return summary
}

test('the setting of the user decides who writes a summary, and an untrusted workspace does not', async () => {
  expect(await writerWith({})).toBe('excerpts')
  expect(await writerWith({ user: BY_MODEL })).toBe('model')
  expect(await writerWith({ workspace: BY_MODEL })).toBe('excerpts')
})
