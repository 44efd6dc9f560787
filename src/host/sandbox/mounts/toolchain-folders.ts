import { basename, dirname, join } from 'node:path'
import process from 'node:process'
import { TOOLCHAINS, VARIABLES_BELOW, type Toolchain } from '../../../model/safety/toolchains.ts'
import { factsBehind } from '../../files/look.ts'
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
export function toolchainsOf(
  env: Env,
  homes: readonly string[],
  mayShow: (path: string) => boolean,
): InstalledToolchains {
  const folders = TOOLCHAINS.map(({ folder }) => folder)
  const present = new Map(homes.map((home) => [home, presentPaths(home, folders)] as const))
  const found = TOOLCHAINS.map((toolchain) => ({
    toolchain,
    named: existingFolders(namedPlaces(toolchain, env), mayShow),
    usual: existingFolders(usualPlaces(toolchain, present), mayShow),
  }))
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

function existingFolders(
  paths: readonly string[],
  mayShow: (path: string) => boolean,
): readonly string[] {
  return paths.filter((path) => mayShow(path) && factsBehind(path)?.isDirectory() === true)
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
