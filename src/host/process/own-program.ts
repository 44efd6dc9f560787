import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'

/** A program, and everything that it has to read to run. */
export interface ProgramFiles {
  /** Node with its options, and the script. */
  readonly argv: readonly [string, ...string[]]
  /** Absolute: the folder of the script, the packages that it finds from there, and what says how to read it. */
  readonly readable: readonly string[]
}

/** This program, to start it again. */
export function ownProgram(): ProgramFiles {
  // The path may be a link to it, as package managers install programs.
  const script = realpathSync(process.argv[1] ?? '')
  const packages = createRequire(script).resolve.paths('hawser') ?? []
  const found = [packageFile(script), ...packages].filter(
    (path) => path !== undefined && existsSync(path),
  )
  return {
    argv: [process.execPath, ...process.execArgv, script],
    readable: [dirname(script), ...found.filter((path) => path !== undefined)],
  }
}

/** Where the build puts the app for browsers: beside the script of this program. */
export function ownAppFolder(): string {
  return join(dirname(realpathSync(process.argv[1] ?? '')), 'web')
}

/** The URL of a package that this program finds, for a thread of its own. */
export function packageUrl(name: string): string {
  return pathToFileURL(createRequire(import.meta.url).resolve(name)).href
}

/** The nearest package.json above a script. */
function packageFile(script: string): string | undefined {
  for (let folder = dirname(script); ; folder = dirname(folder)) {
    const file = join(folder, 'package.json')
    if (existsSync(file)) return file
    if (folder === dirname(folder)) return undefined
  }
}
