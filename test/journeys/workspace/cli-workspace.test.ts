import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { logOf } from '../../support/presenters/open-chat.ts'

/** A repository with a package in it; the person is in the package. */
async function place() {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(join(workspace, '.git'), { recursive: true })
  await mkdir(join(workspace, 'packages', 'a'), { recursive: true })
  await writeFile(join(workspace, '.git', 'HEAD'), 'ref: refs/heads/harbour\n')
  await writeFile(join(workspace, 'packages', 'a', 'rope.txt'), 'hawser\n')
  return { root, workspace, folder: join('packages', 'a') }
}

test('from a subfolder of a repository, the repository is the workspace and commands start in the subfolder', async () => {
  const { root, workspace, folder } = await place()
  const argv = [
    'run',
    '--permission',
    'read-only',
    'Run `pwd; cat rope.txt`',
    '--attach',
    'rope.txt',
  ]
  const { code } = await runCli({ root, folder }, ...argv)
  expect(code).toBe(0)
  expect(await readdir(join(workspace, folder))).toEqual(['rope.txt'])
  const events = await logOf(root)
  const late = events.find(({ type }) => type === 'late_context')
  expect(late?.data).toMatchObject({ workspace, folder: 'packages/a', branch: 'harbour' })
  const message = events.find((event) => event.type === 'user_message')
  expect(message?.data).toMatchObject({ resources: [{ name: 'rope.txt' }] })
  const result = events.find((event) => event.type === 'tool_result')
  expect(result?.data.output).toContain(`${join(workspace, folder)}\nhawser`)
  const verified = await runCli({ root }, 'log', 'verify', 'latest', '--requests')
  expect(verified.code).toBe(0)
})

test('a Session continues from another folder, and the model receives the current folder', async () => {
  const { root, folder } = await place()
  await runCli({ root, folder }, 'run', 'Hello')
  const again = await runCli({ root }, 'run', '--continue', 'Hello again')
  expect(again.code).toBe(0)
  const folders = (await logOf(root)).flatMap((event) =>
    event.type === 'late_context' ? [event.data.folder] : [],
  )
  expect(folders).toEqual(['packages/a', undefined])
})

test('Sessions that were created in a subfolder can be continued from it', async () => {
  const { root, workspace, folder } = await place()
  await runCli({ root }, 'run', '--workspace', join(workspace, folder), 'Old words')
  await runCli({ root }, 'run', 'Words of the repository')
  const inside = await runCli({ root, folder }, 'grep', 'words')
  expect(inside.stdout).toContain('Old words')
  expect(inside.stdout).not.toContain('repository')
  const outside = await runCli({ root }, 'grep', 'words')
  expect(outside.stdout).not.toContain('Old words')
})

test('--workspace is exact, and commands start there', async () => {
  const { root, workspace, folder } = await place()
  const at = join(workspace, 'packages')
  const argv = ['run', '--permission', 'read-only', '--workspace', at, 'Run `pwd`']
  expect((await runCli({ root, folder }, ...argv)).code).toBe(0)
  expect(await readdir(at)).toEqual(['.hawser', 'a'])
  const shown = await runCli({ root }, 'log', 'show', 'latest', '--workspace', at, '--json')
  expect(shown.stdout).not.toContain('"folder"')
  expect(shown.stdout).toContain(`${at}\\n`)
})

test('a Session of another workspace is named with its folder, and can be read there', async () => {
  const { root } = await place()
  await runCli({ root }, 'run', 'Hello')
  const [started] = await logOf(root)
  const id = started?.session_id ?? ''
  const elsewhere = join(root, 'elsewhere')
  await mkdir(elsewhere)
  await runCli({ root }, 'run', 'Hello', '--workspace', elsewhere)
  for (const command of [
    ['log', 'show', id],
    ['run', '--session', id, 'Hello'],
    ['log', 'verify', id],
  ]) {
    const refused = await runCli({ root }, ...command, '--workspace', elsewhere)
    expect(refused.stderr).toContain(`belongs to another workspace: ${join(root, 'workspace')}`)
    expect(refused.code).not.toBe(0)
  }
  expect((await runCli({ root }, 'log', 'show', id)).code).toBe(0)
})
