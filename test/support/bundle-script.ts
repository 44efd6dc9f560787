import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

/**
 * Bundles a script into `folder` and returns its path. Loading TypeScript takes half a second and tests start thousands
 * of children, so each script is bundled once. With `inParts`, dynamic imports become separate files, as in the built
 * program.
 */
export async function bundleScript(
  script: URL,
  folder: string,
  { inParts = false }: { readonly inParts?: boolean } = {},
): Promise<string> {
  const name = `${basename(script.pathname, '.ts')}.mjs`
  const file = join(folder, name)
  const native = createRequire(import.meta.url).resolve('fs-native-extensions')
  await build({
    input: fileURLToPath(script),
    platform: 'node',
    logLevel: 'silent',
    plugins: [
      {
        // It has a native part, and no package can be resolved from the folder of the bundle.
        name: 'native-by-path',
        resolveId: (id) =>
          id === 'fs-native-extensions' ? { id: native, external: 'absolute' } : null,
      },
    ],
    output: inParts
      ? { dir: folder, entryFileNames: name, chunkFileNames: '[name]-[hash].mjs', format: 'esm' }
      : { file, format: 'esm', codeSplitting: false },
  })
  return file
}
