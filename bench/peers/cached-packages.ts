import { access, mkdir, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { npmInstall } from '../../test/clients/install.ts'
import type { Pin } from '../../test/clients/pins.ts'

/**
 * Installs packages of these versions once, outside the repository, and returns their `node_modules`. The folder gets its name
 * when everything is in it. Rejects with `Unavailable` if npm lacks one.
 */
export async function cachedPackages(pins: readonly Pin[]): Promise<string> {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const folder = join(cache, 'hawser-bench')
  await mkdir(folder, { recursive: true })
  const names = pins.map(({ name, version }) => `${name}@${version}`)
  const place = join(folder, names.join('+').replaceAll('/', '_'))
  const modules = join(place, 'node_modules')
  if (await isThere(modules)) return modules
  const fresh = join(folder, `.new-${process.pid}`)
  await rm(fresh, { recursive: true, force: true })
  await mkdir(fresh)
  try {
    await npmInstall(fresh, names)
    await rename(fresh, place)
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
  return modules
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
