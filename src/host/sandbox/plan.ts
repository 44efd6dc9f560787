import { join, relative } from 'node:path'
import { ok, type Result } from '../../model/errors.ts'
import { liesIn } from '../confined-path.ts'
import type { ConfinedCommand, Confinement } from './confinement.ts'
import { asHostResult } from '../files.ts'
import {
  gitDirectoriesOf,
  watchedGitDirectory,
  type WatchedGitDirectory,
} from './git-directories.ts'
import { gitHome } from './git-home.ts'
import { protectedPlaces, type ProtectedPlace } from './protected-places.ts'
import { GIT_SETTINGS, type SandboxMeans, type SandboxPlan } from './args.ts'
import { standingPlace } from './standing-place.ts'
import { mountsOf } from './mounts.ts'
import { userHomes } from './user-homes.ts'

/** A sandbox as it is to be set up, and what to look at when it is over. */
export interface PreparedSandbox {
  readonly plan: SandboxPlan
  readonly workspace: string
  /** Protected paths where something may appear. */
  readonly watched: readonly string[]
  /** What stands there now. */
  readonly before: readonly ProtectedPlace[]
  /** The same of git directories outside the workspace. */
  readonly gitDirectories: readonly WatchedGitDirectory[]
  /** For the environment of the program. */
  readonly variables: Readonly<Record<string, string>>
}

/** By what, for whom, and in which environment. */
export interface SandboxGround {
  readonly means: SandboxMeans
  readonly superuser: boolean
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Looks at the disk as it is now, and decides what a command may see and change. */
export async function prepareSandbox(
  { means, superuser, env }: SandboxGround,
  { writable, guest = false, ...confinement }: Confinement,
  command: Pick<ConfinedCommand, 'folder' | 'network'>,
): Promise<Result<PreparedSandbox>> {
  return asHostResult('prepare the sandbox', async () => {
    const place = await standingPlace(confinement, command.folder)
    if (!place.ok) return place
    const { workspace, folder, hawserHome } = place.value
    const own = liesIn(hawserHome, workspace) ? [relative(workspace, hawserHome)] : []
    const paths = [...ALWAYS_PROTECTED, ...confinement.protectedPaths, ...own]
    const before = await protectedPlaces(workspace, paths)
    const network = command.network === true
    const homes = await userHomes()
    const [gitDirectories, git] = await Promise.all([
      gitDirectoriesOf(workspace),
      gitHome(homes, env['XDG_CONFIG_HOME'], workspace),
    ])
    const readable = [
      // Where it is a link, by that name too.
      confinement.workspace,
      ...git.files,
      ...(confinement.readable ?? []).flatMap((path) => atHome(path, homes)),
    ]
    const around = { network, env, readable, gitDirectories, userHomes: homes }
    const scene = { workspace, hawserHome, writable, guest, ...around }
    // What is hidden as a whole is not also shown read-only.
    const places = before.filter(({ path }) => !own.includes(path))
    const mounts = await mountsOf({ ...scene, places })
    if (!mounts.ok) return mounts
    const home = `${workspace === '/tmp' ? '/dev/shm' : '/tmp'}/.hawser-home`
    const base = {
      mounts: mounts.value.mounts,
      folder,
      home,
      network,
      nests: guest,
      superuser,
      means,
    }
    const mayAppear = paths.filter((path) => !(guest && path === OUR_FOLDER))
    const watched = writable === 'workspace' ? mayAppear : []
    const variables = {
      ...mounts.value.variables,
      ...(git.text === '' ? {} : { [GIT_SETTINGS]: git.text }),
    }
    const outside = writable === 'workspace' ? gitDirectories : []
    return ok({
      plan: base,
      workspace,
      watched,
      before,
      gitDirectories: await Promise.all(outside.map(watchedGitDirectory)),
      variables,
    })
  })
}

const OUR_FOLDER = '.hawser'

/** What makes git run programs of a repository's choice, or read its settings elsewhere; and our own folder. */
const ALWAYS_PROTECTED = [
  '.git/hooks',
  '.git/config',
  '.git/config.worktree',
  '.git/commondir',
  OUR_FOLDER,
]

function atHome(path: string, homes: readonly string[]): readonly string[] {
  return path.startsWith('~/') ? homes.map((home) => join(home, path.slice(2))) : [path]
}
