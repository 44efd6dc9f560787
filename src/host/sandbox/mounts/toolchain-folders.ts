import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { TOOLCHAINS, VARIABLES_BELOW, type Toolchain } from '../../../model/safety/toolchains.ts'
import { pathFolders } from '../bubblewrap/env.ts'
import { presentPaths } from './present-paths.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The toolchains of this machine. */
export interface InstalledToolchains {
  readonly places: readonly ToolchainPlace[]
  /** Variables by which programs find the toolchains. */
  readonly variables: Readonly<Record<string, string>>
}

export interface ToolchainPlace {
  /** As in the table; credential paths are relative to it. */
  readonly folder: string
  readonly at: string
}

/** The toolchains of the table that exist, at the path in their variable or below one of the homes. */
export async function toolchainsOf(
  env: Env,
  homes: readonly string[],
  mayShow: (path: string) => boolean,
): Promise<InstalledToolchains> {
  const folders = TOOLCHAINS.map(({ folder }) => folder)
  const present = new Map(
    await Promise.all(
      homes.map(async (home) => [home, await presentPaths(home, folders)] as const),
    ),
  )
  const found = await Promise.all(
    TOOLCHAINS.map(async (toolchain) => {
      const [named, usual] = await Promise.all([
        existingFolders(namedPlaces(toolchain, env), mayShow),
        existingFolders(usualPlaces(toolchain, present), mayShow),
      ])
      return { toolchain, named, usual }
    }),
  )
  const places = found.flatMap(({ toolchain: { folder }, named, usual }) =>
    [...named, ...usual].map((at): ToolchainPlace => ({ folder, at })),
  )
  const variables: Record<string, string> = {}
  for (const { toolchain, named, usual } of found) {
    const { variable, byHome = false } = toolchain
    if (variable === undefined) continue
    const isSet = env[variable] !== undefined && env[variable] !== ''
    const value = isSet ? named.join(':') : byHome ? (usual[0] ?? '') : ''
    if (value !== '') variables[variable] = value
  }
  for (const { variable, folder, below } of VARIABLES_BELOW) {
    const place = places.find((one) => one.folder === folder)
    if (place !== undefined) variables[variable] = join(place.at, below)
  }
  return { places, variables }
}

function namedPlaces({ variable }: Toolchain, env: Env): string[] {
  const value = variable === undefined ? undefined : env[variable]
  return (value ?? '').split(':').filter((path) => path.startsWith('/'))
}

function usualPlaces(
  { folder }: Toolchain,
  homes: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  return [...homes].flatMap(([home, there]) => (there.has(folder) ? [join(home, folder)] : []))
}

async function existingFolders(
  paths: readonly string[],
  mayShow: (path: string) => boolean,
): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.filter(mayShow).map(async (path) => {
      const facts = await stat(path).catch(() => undefined)
      return facts?.isDirectory() === true ? [path] : []
    }),
  )
  return found.flat()
}

/** What programs in a folder named `bin` expect beside it. */
const BESIDE_BIN = ['lib', 'lib64', 'libexec', 'share', 'include', 'pyvenv.cfg']

/**
 * The `PATH` folders, the rest of an installation whose `bin` is one of them, and the Node that runs Hawser. A `bin`
 * directly in the home, or in `~/.local`, is not an installation: the files beside it are the user's own.
 */
export function pathPlaces(env: Env, homes: readonly string[]): readonly string[] {
  const shared = new Set([...homes, ...homes.map((home) => join(home, '.local')), '/'])
  const folders = pathFolders(env).map((folder) => join(folder, '.').replace(/(.)\/$/, '$1'))
  const beside = folders.flatMap((folder) => {
    const prefix = dirname(folder)
    const isBin = basename(folder) === 'bin' || basename(folder) === 'sbin'
    return isBin && !shared.has(prefix) ? BESIDE_BIN.map((name) => join(prefix, name)) : []
  })
  return [...new Set([...folders, ...beside, process.execPath])]
}
