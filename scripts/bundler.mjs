// Bundles a script for tests: `node scripts/bundler.mjs ORDER`, where ORDER is JSON (`test/support/host/bundle-script.ts`). A
// process of its own, because the bundler keeps half a gigabyte of memory, and each child that a process of that size
// starts costs 30 ms of CPU time instead of 8.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { builtinsByName, sdkHeaders } from './build-plugins.mjs'

const REHEARSE = fileURLToPath(new URL('../rehearse/src/rehearse.ts', import.meta.url))
const { script, folder, name, inParts } = JSON.parse(process.argv[2])
const native = createRequire(import.meta.url).resolve('fs-native-extensions')

await build({
  input: script,
  platform: 'node',
  // Its paths name types, not code.
  tsconfig: false,
  logLevel: 'silent',
  // No package can be resolved from the folder of the bundle.
  resolve: { alias: { 'hawser-rehearse': REHEARSE } },
  plugins: [
    // As in the program.
    sdkHeaders,
    ...(inParts ? [builtinsByName] : []),
    {
      // It has a native part, which cannot be bundled.
      name: 'native-by-path',
      resolveId: (id) => (id === 'fs-native-extensions' ? '\0native' : null),
      load: (id) =>
        id === '\0native'
          ? `import { createRequire } from 'node:module'
             export const { tryLock } = createRequire(import.meta.url)(${JSON.stringify(native)})`
          : null,
    },
  ],
  output: inParts
    ? { dir: folder, entryFileNames: name, chunkFileNames: '[name]-[hash].cjs', format: 'cjs' }
    : { file: join(folder, name), format: 'esm', codeSplitting: false },
})
