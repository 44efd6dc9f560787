import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  CREDENTIALS_AT_HOME,
  CREDENTIALS_OF_THE_SYSTEM,
  type Credential,
} from '../../../model/safety/credentials.ts'
import { entryNames, firstBytes, realPathOf } from '../../files/look.ts'
import type { Mount } from '../bubblewrap/args.ts'
import { foundPaths } from './found-paths.ts'
import { hiddenMounts } from './hidden-mounts.ts'
import { presentPaths } from './present-paths.ts'
import { isIn } from './readable-mounts.ts'
import type { ToolchainPlace } from './toolchain-folders.ts'

export interface CredentialScene {
  /** Real paths that the sandbox shows, including the workspace. */
  readonly shownPaths: readonly string[]
  readonly homes: readonly string[]
  readonly toolchains: readonly ToolchainPlace[]
  /** Real paths that a person listed as readable: a credential listed there stays visible. */
  readonly readablePaths: readonly string[]
}

/** Mounts that hide every credential in the shown folders. */
export async function credentialMounts(scene: CredentialScene): Promise<readonly Mount[]> {
  const atHome = homesIn(scene).flatMap(credentialsAt)
  const mounts = hiddenMounts([...atHome, ...ofMovedToolchains(scene.toolchains)])
  const ofTheSystem = await systemCredentials()
  const named = new Set(scene.readablePaths)
  return [...mounts, ...ofTheSystem].filter(
    ({ at }) => !named.has(at) && scene.shownPaths.some((folder) => isIn(at, folder)),
  )
}

/** The user's homes, and homes of other users inside a shown folder. */
function homesIn({ homes, shownPaths }: CredentialScene): readonly string[] {
  const others = entryNames('/home').map((name) => `/home/${name}`)
  const visible = [...others, '/root'].filter((home) =>
    shownPaths.some((folder) => isIn(home, folder)),
  )
  return [...new Set([...homes, ...visible])]
}

function credentialsAt(home: string): readonly string[] {
  const paths = CREDENTIALS_AT_HOME.map(({ path }) => path)
  const present = presentPaths(home, paths)
  const there = CREDENTIALS_AT_HOME.filter(({ path }) => present.has(path))
  return secretOnes(there.map((credential) => ({ credential, at: join(home, credential.path) })))
}

/** A toolchain in a non-default place contains the same credentials. */
function ofMovedToolchains(places: readonly ToolchainPlace[]): readonly string[] {
  const all = places.flatMap(({ folder, at }) =>
    CREDENTIALS_AT_HOME.filter(({ path }) => path.startsWith(`${folder}/`)).map((credential) => ({
      credential,
      at: join(at, credential.path.slice(folder.length + 1)),
    })),
  )
  return secretOnes(all)
}

function secretOnes(
  all: readonly { readonly credential: Credential; readonly at: string }[],
): readonly string[] {
  return all.flatMap(({ credential: { mentions }, at }) =>
    mentions === undefined || mentionsIn(at, mentions) ? [at] : [],
  )
}

const READ_BYTES = 65_536

function mentionsIn(path: string, words: RegExp): boolean {
  const bytes = firstBytes(path, READ_BYTES)
  return bytes !== undefined && (bytes.length === READ_BYTES || words.test(bytes.toString('utf8')))
}

let known: Promise<readonly Mount[]> | undefined

/** System credentials do not move while this process runs. */
function systemCredentials(): Promise<readonly Mount[]> {
  known ??= closedToOthers().then((closed) =>
    hiddenMounts(
      outermost([...CREDENTIALS_OF_THE_SYSTEM.flatMap(({ path }) => matching(path)), ...closed]),
    ),
  )
  // A search that failed is made again for the next command.
  known.catch(() => (known = undefined))
  return known
}

function matching(path: string): readonly string[] {
  const name = basename(path)
  if (!name.includes('*')) return [path]
  const [before = '', after = ''] = name.split('*')
  return entryNames(dirname(path))
    .filter((one) => one.startsWith(before) && one.endsWith(after))
    .map((one) => join(dirname(path), one))
}

/** Files below /etc that this process can read and other users cannot. */
async function closedToOthers(): Promise<readonly string[]> {
  const etc = realPathOf('/etc')
  if (etc === undefined) return []
  const closed = ['!', '-type', 'l', '!', '-perm', '-004', '-print0', '-prune']
  const paths = await foundPaths([etc], closed)
  const readable = await Promise.all(
    paths.map(async (path) => {
      const may = access(path, constants.R_OK)
      return may.then(
        () => [path],
        () => [],
      )
    }),
  )
  return readable.flat().filter((path) => path !== etc)
}

function outermost(paths: readonly string[]): readonly string[] {
  const unique = [...new Set(paths)]
  return unique.filter((path) => !unique.some((other) => other !== path && isIn(path, other)))
}
