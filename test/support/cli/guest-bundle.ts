import { rmSync } from 'node:fs'
import { mkdtemp, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ProgramFiles } from '../../../src/host/process/own-program.ts'
import { bundleScript } from '../host/bundle-script.ts'

let bundling: Promise<ProgramFiles> | undefined

/**
 * The program, bundled once for all tests of a file, and the packages that it loads by their paths. Not below the root of the
 * tests, which is in /dev/shm: a sandbox has its own /dev.
 */
export function guestProgram(): Promise<ProgramFiles> {
  bundling ??= (async () => {
    const script = new URL('../../../bin/hawser.ts', import.meta.url)
    const own = await mkdtemp(join(tmpdir(), 'hawser-guest-'))
    folder = own
    const path = await bundleScript(script, own, { inParts: true })
    const packages = join(
      dirname(createRequire(import.meta.url).resolve('fs-native-extensions')),
      '..',
    )
    // A server that runs from here finds the packages for its guests like an installed one.
    await symlink(join(packages, '..'), join(own, 'node_modules'))
    return { argv: [process.execPath, path], readable: [dirname(path), packages] }
  })()
  return bundling
}

let folder: string | undefined

process.on('exit', removeGuestProgram)

/** Deletes the bundle. Vitest ends its workers without an exit. The next file of the same worker makes its own. */
export function removeGuestProgram(): void {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  folder = undefined
  bundling = undefined
}
