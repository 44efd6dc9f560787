import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What cannot be the workspace of an Instance, with the kind of its error and how to make it beside a Hawser home. */
export const BAD_WORKSPACES: readonly (readonly [
  what: string,
  kind: string,
  path: (root: string) => Promise<string>,
])[] = [
  ['a relative path', 'invalid_args', async () => 'workspace'],
  ['an empty path', 'invalid_args', async () => ''],
  ['a missing folder', 'not_found', async (root) => join(root, 'missing')],
  [
    'a file',
    'not_regular_file',
    async (root) => {
      await writeFile(join(root, 'file'), '')
      return join(root, 'file')
    },
  ],
  ['the Hawser home', 'invalid_args', async (root) => join(root, 'home')],
  ['a folder in the Hawser home', 'invalid_args', async (root) => join(root, 'home/instances')],
  ['a folder that contains the Hawser home', 'invalid_args', async (root) => root],
  ['a link to the Hawser home', 'invalid_args', (root) => linkTo(root, 'home')],
  ['a link into the Hawser home', 'invalid_args', (root) => linkTo(root, 'home/instances')],
]

async function linkTo(root: string, target: string): Promise<string> {
  await symlink(join(root, target), join(root, 'link'))
  return join(root, 'link')
}
