import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

/**
 * Starting TypeScript takes half a second, and thousands of children are started: each script is bundled once. `inParts`: what
 * is imported later is a file of its own, as in the built program.
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
        // Has a native part, and the bundle lies where no package is found.
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
