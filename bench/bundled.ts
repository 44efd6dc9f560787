import { mkdir, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * Bundles a script of this folder into `folder`, as the program is bundled, and answers with its path. For what is
 * measured in a process of its own: the loader of TypeScript takes memory, and slows what it has loaded.
 */
export async function bundled(script: string, folder: string): Promise<string> {
  const dir = join(folder, 'bundled')
  await mkdir(dir, { recursive: true })
  // From here packages with native parts are found.
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'), 'junction')
  await build({
    cwd: ROOT,
    input: join('bench', script),
    platform: 'node',
    external: ['fs-native-extensions'],
    logLevel: 'warn',
    output: { dir, format: 'esm', minify: true, entryFileNames: '[name].mjs' },
  })
  return join(dir, `${basename(script, '.ts')}.mjs`)
}
