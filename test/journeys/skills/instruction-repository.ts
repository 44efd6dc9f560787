import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { logOf } from '../../support/presenters/open-chat.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'

/** A repository with instructions at its root and in a package; the person is in the package. */
export async function repository() {
  const root = await freshFolder()
  const folder = join('packages', 'a')
  const workspace = join(root, 'workspace')
  await mkdir(join(workspace, '.git'), { recursive: true })
  await writeFile(join(workspace, '.git', 'HEAD'), 'ref: refs/heads/harbour\n')
  await mkdir(join(workspace, folder), { recursive: true })
  await writeFile(join(workspace, 'AGENTS.md'), 'Use tabs.\n')
  await writeFile(join(workspace, folder, 'CLAUDE.md'), 'Test it.\n')
  const cli = (...argv: readonly string[]) => runCli({ root, folder }, ...argv)
  return { root, workspace, folder, cli }
}

/** Path and reason of every text that the only Session loaded. */
export async function textsIn(root: string): Promise<string[]> {
  return (await logOf(root)).flatMap((event) =>
    event.type === 'project_instructions' ? [`${event.data.path} ${event.data.reason}`] : [],
  )
}
