import { mkdir, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { NEWER_NODE, type Pin } from './pin.ts'
import { run } from './process.ts'

/** The reason why a client cannot be tested on this machine. It is always printed and is not a failure. */
export class Unavailable extends Error {}

/** npm's error codes for a package that the registry, the network or the platform does not provide. */
const LACKING = /npm error code (E404|ETARGET|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EBADPLATFORM)/
const INSTALL_SECONDS = 300

/** Installs packages outside the repository, without running their scripts, and returns their `node_modules`. */
export async function install(root: string, pins: readonly Pin[]): Promise<string> {
  const prefix = join(root, 'installed')
  await mkdir(prefix)
  await npmInstall(
    prefix,
    pins.map(({ name, version }) => `${name}@${version}`),
  )
  return join(prefix, 'node_modules')
}

/** Installs packages into a folder or, without names, those that its package.json lists. Runs none of their scripts. */
export async function npmInstall(folder: string, names: readonly string[] = []): Promise<void> {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { code, stderr } = await run(['npm', 'install', '--prefix', folder, ...options, ...names], {
    cwd: folder,
    env: process.env,
    seconds: INSTALL_SECONDS,
  })
  const [, lacking] = LACKING.exec(stderr) ?? []
  if (lacking !== undefined) {
    const what = names.length === 0 ? 'the packages of the example' : names.join(' and ')
    throw new Unavailable(`npm cannot install ${what}: ${lacking}`)
  }
  if (code !== 0) throw new Error(`npm install ended with ${code ?? 'a timeout'}: ${stderr}`)
}

/** The folder of a package's native part: npm installs the one for this platform, or none. */
export async function nativePart(modules: string, { name }: Pin): Promise<string> {
  const scope = join(modules, dirname(name))
  const start = `${name.slice(name.indexOf('/') + 1)}-`
  const found = (await readdir(scope)).find((entry) => entry.startsWith(start))
  if (found !== undefined) return join(scope, found)
  const platform = `${process.platform} on ${process.arch}`
  throw new Unavailable(`${name} has no native binary for ${platform}`)
}

const LEAST_NODE = [22, 19] as const

/** A newer Node from npm, if the current one is too old. */
export function newerNode(): readonly Pin[] {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [leastMajor, leastMinor] = LEAST_NODE
  const isNew = major > leastMajor || (major === leastMajor && minor >= leastMinor)
  return isNew ? [] : [NEWER_NODE]
}

export function nodeIn(modules: string): string {
  return newerNode().length === 0 ? process.execPath : join(modules, NEWER_NODE.name, 'bin', 'node')
}
