import { constants } from 'node:fs'
import { access, open, readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  CREDENTIALS_AT_HOME,
  CREDENTIALS_OF_THE_SYSTEM,
  type Credential,
} from '../../../model/safety/credentials.ts'
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
  const homes = await homesIn(scene)
  const [atHome, ofToolchains, ofTheSystem] = await Promise.all([
    Promise.all(homes.map(credentialsAt)),
    ofMovedToolchains(scene.toolchains),
    systemCredentials(),
  ])
  const mounts = await hiddenMounts([...atHome.flat(), ...ofToolchains])
  const named = new Set(scene.readablePaths)
  return [...mounts, ...ofTheSystem].filter(
    ({ at }) => !named.has(at) && scene.shownPaths.some((folder) => isIn(at, folder)),
  )
}

/** The user's homes, and homes of other users inside a shown folder. */
async function homesIn({ homes, shownPaths }: CredentialScene): Promise<readonly string[]> {
  const others = (await readdir('/home').catch(() => [])).map((name) => `/home/${name}`)
  const visible = [...others, '/root'].filter((home) =>
    shownPaths.some((folder) => isIn(home, folder)),
  )
  return [...new Set([...homes, ...visible])]
}

async function credentialsAt(home: string): Promise<readonly string[]> {
  const paths = CREDENTIALS_AT_HOME.map(({ path }) => path)
  const present = await presentPaths(home, paths)
  const there = CREDENTIALS_AT_HOME.filter(({ path }) => present.has(path))
  return secretOnes(there.map((credential) => ({ credential, at: join(home, credential.path) })))
}

/** A toolchain in a non-default place contains the same credentials. */
async function ofMovedToolchains(places: readonly ToolchainPlace[]): Promise<readonly string[]> {
  const all = places.flatMap(({ folder, at }) =>
    CREDENTIALS_AT_HOME.filter(({ path }) => path.startsWith(`${folder}/`)).map((credential) => ({
      credential,
      at: join(at, credential.path.slice(folder.length + 1)),
    })),
  )
  return secretOnes(all)
}

async function secretOnes(
  all: readonly { readonly credential: Credential; readonly at: string }[],
): Promise<readonly string[]> {
  const secret = await Promise.all(
    all.map(async ({ credential: { mentions }, at }) =>
      mentions === undefined || (await mentionsIn(at, mentions)) ? [at] : [],
    ),
  )
  return secret.flat()
}

const READ_BYTES = 65_536

async function mentionsIn(path: string, words: RegExp): Promise<boolean> {
  const file = await open(path, 'r').catch(() => undefined)
  if (file === undefined) return false
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, 0)
    return bytesRead === READ_BYTES || words.test(buffer.toString('utf8', 0, bytesRead))
  } catch {
    return false
  } finally {
    await file.close()
  }
}

let known: Promise<readonly Mount[]> | undefined

/** System credentials do not move while this process runs. */
function systemCredentials(): Promise<readonly Mount[]> {
  known ??= Promise.all([
    Promise.all(CREDENTIALS_OF_THE_SYSTEM.map(({ path }) => matching(path))),
    closedToOthers(),
  ]).then(([table, closed]) => hiddenMounts(outermost([...table.flat(), ...closed])))
  return known
}

async function matching(path: string): Promise<readonly string[]> {
  const name = basename(path)
  if (!name.includes('*')) return [path]
  const [before = '', after = ''] = name.split('*')
  const names = await readdir(dirname(path)).catch(() => [])
  return names
    .filter((one) => one.startsWith(before) && one.endsWith(after))
    .map((one) => join(dirname(path), one))
}

/** Files below /etc that this process can read and other users cannot. */
async function closedToOthers(): Promise<readonly string[]> {
  const etc = await realpath('/etc').catch(() => undefined)
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
