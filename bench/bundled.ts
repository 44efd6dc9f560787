import { mkdir, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * Bundles a script of this folder into `folder`, as the program is bundled, and returns its path. For measurements
 * in a separate process: the TypeScript loader uses memory and slows down the code it loads.
 */
export async function bundled(script: string, folder: string): Promise<string> {
  const dir = join(folder, 'bundled')
  await mkdir(dir, { recursive: true })
  // Packages with native parts are found from here.
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'), 'junction')
  await build({
    cwd: ROOT,
    input: join('bench', script),
    platform: 'node',
    // Its paths name types, not code.
    tsconfig: false,
    resolve: { alias: { 'hawser-rehearse': join(ROOT, 'rehearse', 'src', 'rehearse.ts') } },
    external: ['fs-native-extensions'],
    logLevel: 'warn',
    output: { dir, format: 'esm', minify: true, entryFileNames: '[name].mjs' },
  })
  return join(dir, `${basename(script, '.ts')}.mjs`)
}
