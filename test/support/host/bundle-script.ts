import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

interface BundleOptions {
  /** Dynamic imports become separate files and all are CommonJS, as in the built program. */
  readonly inParts?: boolean
}

/**
 * Bundles a script into `folder` and returns its path. Loading TypeScript takes half a second and tests start thousands
 * of children, so each script is bundled once; the workers of a run share what they bundled.
 */
export async function bundleScript(
  script: URL,
  folder: string,
  { inParts = false }: BundleOptions = {},
): Promise<string> {
  const name = `${basename(script.pathname, '.ts')}.${inParts ? 'cjs' : 'mjs'}`
  const bundling = { script: fileURLToPath(script), name, inParts }
  const shared = process.env['HAWSER_TEST_BUNDLES']
  if (shared === undefined) await bundle(bundling, folder)
  else await copyFiles(await bundledIn(shared, bundling), folder)
  return join(folder, name)
}

interface Bundling {
  readonly script: string
  readonly name: string
  readonly inParts: boolean
}

/** The folder of the bundle below `shared`. Two workers may both make it; one of them keeps it. */
async function bundledIn(shared: string, bundling: Bundling): Promise<string> {
  const key = createHash('sha256').update(JSON.stringify(bundling)).digest('hex')
  const done = join(shared, key)
  if ((await filesIn(done)).length > 0) return done
  const making = await mkdtemp(join(shared, 'making-'))
  await bundle(bundling, making)
  await rename(making, done).catch(() => rm(making, { recursive: true }))
  return done
}

async function bundle(bundling: Bundling, folder: string): Promise<void> {
  const bundler = fileURLToPath(new URL('../../../scripts/bundler.mjs', import.meta.url))
  const order = JSON.stringify({ ...bundling, folder })
  await promisify(execFile)(process.execPath, [bundler, order])
}

async function copyFiles(from: string, to: string): Promise<void> {
  for (const name of await filesIn(from)) await copyFile(join(from, name), join(to, name))
}

function filesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => [])
}
