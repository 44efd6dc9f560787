import { chown, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { startProgram } from '../../support/cli/program.ts'

/** `<root>` is a repository; the program starts in `<root>/workspace`. */
async function place(): Promise<string> {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  await mkdir(join(root, '.git'))
  await writeFile(join(root, '.git', 'HEAD'), 'ref: refs/heads/main\n')
  return root
}

/** Runs one Turn, and returns the names of the files in the repository and in the folder afterwards. */
async function runTurn(root: string, HOME: string) {
  const run = await startProgram({ root, env: { HOME } }, ['run', 'Hello'])
  const { code } = await run.ended
  const inFolder = await readdir(join(root, 'workspace'))
  const inRepository = (await readdir(root)).includes('.hawser')
  return { code, inFolder, inRepository }
}

test('a repository around the home is not the workspace of a folder below the home', async () => {
  const root = await place()
  const result = await runTurn(root, root)
  expect(result).toEqual({ code: 0, inFolder: ['.hawser'], inRepository: false })
})

test('with the home elsewhere, the repository is the workspace', async () => {
  const root = await place()
  const result = await runTurn(root, join(root, 'elsewhere'))
  expect(result).toEqual({ code: 0, inFolder: [], inRepository: true })
})

test.skipIf(process.getuid?.() !== 0)(
  'a repository of another user is not the workspace',
  async () => {
    const root = await place()
    await mkdir(join(root, 'home'), { mode: 0o700 })
    await chown(root, 65_534, 65_534)
    const result = await runTurn(root, join(root, 'elsewhere'))
    expect(result).toEqual({ code: 0, inFolder: ['.hawser'], inRepository: false })
  },
)

test('a `.hawser` that is a link is not followed: the repository is the workspace', async () => {
  const root = await place()
  await mkdir(join(root, 'elsewhere'))
  await symlink(join(root, 'elsewhere'), join(root, 'workspace', '.hawser'))
  const result = await runTurn(root, join(root, 'nowhere'))
  expect(result).toEqual({ code: 0, inFolder: ['.hawser'], inRepository: true })
  expect(await readdir(join(root, 'elsewhere'))).toEqual([])
})
