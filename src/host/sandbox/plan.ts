import { join, relative } from 'node:path'
import { ok, type Result } from '../../model/errors.ts'
import { liesIn } from '../files/confined-path.ts'
import type { ConfinedCommand, Confinement } from './confinement.ts'
import { asHostResult } from '../files/files.ts'
import { gitDirectoriesOf } from './git/directories.ts'
import { gitHome } from './git/home.ts'
import { protectedPlaces } from './watch/protected-places.ts'
import { GIT_SETTINGS, type SandboxMeans, type SandboxPlan } from './bubblewrap/args.ts'
import type { HeldLimits } from './limits/limited-run.ts'
import { standingPlace } from './standing-place.ts'
import { mountsOf, surroundings } from './mounts/mounts.ts'
import { userHomes } from './mounts/user-homes.ts'
import { watchOver, type Watch, type WatchOptions } from './watch/watch.ts'

/** A sandbox as it is to be set up, and what to look at when it is over. */
export interface PreparedSandbox {
  readonly plan: SandboxPlan
  readonly workspace: string
  /** What is protected now, and how to look again; absent where the program can write nothing. */
  readonly watch: { readonly before: Watch; readonly options: WatchOptions } | undefined
  /** For the environment of the program. */
  readonly variables: Readonly<Record<string, string>>
}

/** By what, for whom, and in which environment. */
export interface SandboxGround {
  readonly means: SandboxMeans
  readonly superuser: boolean
  readonly limits?: HeldLimits
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
    const paths = [OUR_FOLDER, ...confinement.protectedPaths, ...own]
    const mayAppear = paths.filter((path) => !(guest && path === OUR_FOLDER))
    const gitDirectories = await gitDirectoriesOf(workspace)
    const options = { paths: mayAppear, gitDirectories, left: [OUR_FOLDER] }
    const network = command.network === true
    const homes = await userHomes()
    const git = await gitHome(homes, env['XDG_CONFIG_HOME'], workspace)
    const readable = [
      // Where it is a link, by that name too.
      confinement.workspace,
      ...git.files,
      ...(confinement.readable ?? []).flatMap((path) => atHome(path, homes)),
    ]
    const around = { network, env, readable, gitDirectories, userHomes: homes }
    const scene = { workspace, hawserHome, writable, guest, ...around }
    // A large workspace is looked at while the disk answers about the rest.
    const [view, before, ours] = await Promise.all([
      surroundings(scene),
      writable === 'workspace' ? watchOver(workspace, options) : undefined,
      protectedPlaces(workspace, [OUR_FOLDER, ...own]),
    ])
    // What is hidden as a whole is not also shown read-only.
    const held = before?.places.filter((one) => one.held && !own.includes(one.path)) ?? []
    const places = [...ours.filter(({ path }) => !own.includes(path)), ...held]
    const mounts = await mountsOf({ ...scene, places }, view)
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
    const variables = {
      ...mounts.value.variables,
      ...(git.text === '' ? {} : { [GIT_SETTINGS]: git.text }),
    }
    return ok({ plan: base, workspace, watch: before && { before, options }, variables })
  })
}

const OUR_FOLDER = '.hawser'

function atHome(path: string, homes: readonly string[]): readonly string[] {
  return path.startsWith('~/') ? homes.map((home) => join(home, path.slice(2))) : [path]
}
