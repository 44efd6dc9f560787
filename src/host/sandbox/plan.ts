import { realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { ok, type Result } from '../../model/errors.ts'
import { liesIn, outside } from '../files/confined-path.ts'
import type { ConfinedCommand, Confinement } from './confinement.ts'
import { asHostResult } from '../files/files.ts'
import { gitDirectoriesOf } from './git/directories.ts'
import { gitHome } from './git/home.ts'
import { protectedPlaces } from './watch/protected-places.ts'
import { GIT_SETTINGS, type Bubblewrap, type SandboxPlan } from './bubblewrap/args.ts'
import type { HeldLimits } from './limits/limited-run.ts'
import { workingDirectory } from './working-directory.ts'
import { expectedMounts, type MountedId } from './mount-check.ts'
import { mountsOf, surroundings } from './mounts/mounts.ts'
import { userHomes } from './mounts/user-homes.ts'
import { registeredWorkspaces } from '../workspaces/registered.ts'
import { hawserFolders } from './watch/hawser-folders.ts'
import { lookOver, watchOver, type Watch, type WatchOptions } from './watch/watch.ts'

/** A sandbox ready to start, and what to compare when the command has ended. */
export interface PreparedSandbox {
  readonly plan: SandboxPlan
  readonly workspace: string
  /** What must be mounted when the program starts. */
  readonly expected: readonly MountedId[]
  /** The protected paths now, and how to check them again. Absent when the program cannot write. */
  readonly watch: { readonly before: Watch; readonly options: WatchOptions } | undefined
  /** Environment variables for the program. */
  readonly variables: Readonly<Record<string, string>>
}

/** The bubblewrap, user, limits and environment that every sandbox of this process uses. */
export interface SandboxContext {
  readonly bubblewrap: Bubblewrap
  readonly superuser: boolean
  readonly limits?: HeldLimits
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Inspects the disk and decides what a command may read and write. */
export async function prepareSandbox(
  { bubblewrap, superuser, env }: SandboxContext,
  { writable, guest = false, ...confinement }: Confinement,
  command: Pick<ConfinedCommand, 'folder' | 'network' | 'searches'>,
): Promise<Result<PreparedSandbox>> {
  return asHostResult('prepare the sandbox', async () => {
    const place = await workingDirectory(confinement, command.folder)
    if (!place.ok) return place
    const { workspace, identity, folder, hawserHome } = place.value
    const ownHome = await ownHomeIn(hawserHome, confinement.ownHome)
    if (!ownHome.ok) return ownHome
    const skippedNames = [OUR_FOLDER]
    // Scanning a large workspace overlaps with the other disk reads.
    const isWritable = writable === 'workspace'
    const isScanned = isWritable || command.searches !== true
    const looking = isScanned ? lookOver(workspace, { skippedNames }) : undefined
    looking?.catch(() => {})
    const own = liesIn(hawserHome, workspace) ? [relative(workspace, hawserHome)] : []
    const paths = [OUR_FOLDER, ...confinement.protectedPaths, ...own]
    const gitFinding = gitDirectoriesOf(workspace)
    gitFinding.catch(() => {})
    const homes = userHomes()
    const [gitFolders, git] = await Promise.all([
      gitFinding,
      gitHome(homes, env['XDG_CONFIG_HOME'], workspace),
    ])
    const gitDirectories = gitFolders.map(({ path }) => path)
    const options = { paths, gitDirectories: gitFolders, skippedNames, hawserHome, identity }
    const network = command.network === true
    const readable = [
      // If the workspace path is a symbolic link, that name works inside too.
      confinement.workspace,
      ...git.files,
      ...(confinement.readable ?? []).flatMap((path) => atHome(path, homes)),
    ]
    const otherWorkspaces = registeredWorkspaces(hawserHome).filter((path) => path !== workspace)
    const around = { network, env, readable, gitDirectories, userHomes: homes, otherWorkspaces }
    const { records } = confinement
    const inside = records === undefined ? {} : { records }
    const scene = { workspace, hawserHome, writable, guest, ...inside, ...ownHome.value, ...around }
    const [view, before, ours] = await Promise.all([
      surroundings(scene),
      isWritable ? watchOver(workspace, options, looking) : undefined,
      protectedPlaces(workspace, [OUR_FOLDER, ...own]),
    ])
    const found =
      before?.places ?? hawserFolders(workspace, (await looking)?.hawsers ?? [], hawserHome)
    // A hidden folder needs no read-only mounts inside it.
    const held = found.filter((one) => one.isHeld && !own.includes(one.path))
    const places = [...ours.filter(({ path }) => !own.includes(path)), ...held]
    const coveredPaths = found.flatMap((one) => (one.isCovered === true ? [one.path] : []))
    const mounts = await mountsOf({ ...scene, places, coveredPaths }, view)
    if (!mounts.ok) return mounts
    const others = [...gitFolders, ...Object.values(ownHome.value)]
    const expected = await expectedMounts(mounts.value.mounts, identity, others)
    if (!expected.ok) return expected
    const home = `${workspace === '/tmp' ? '/dev/shm' : '/tmp'}/.hawser-home`
    const base = {
      mounts: mounts.value.mounts,
      folder,
      home,
      network,
      nests: guest,
      superuser,
      bubblewrap,
    }
    const variables = {
      ...mounts.value.variables,
      ...(git.text === '' ? {} : { [GIT_SETTINGS]: git.text }),
    }
    return ok({
      plan: base,
      workspace,
      expected: expected.value,
      watch: before && { before, options },
      variables,
    })
  })
}

const OUR_FOLDER = '.hawser'

/** Fails with `outside_workspace` if the folder is not below `$HAWSER_HOME`. */
async function ownHomeIn(
  hawserHome: string,
  ownHome: string | undefined,
): Promise<Result<Pick<Confinement, 'ownHome'>>> {
  if (ownHome === undefined) return ok({})
  const real = await realpath(ownHome)
  return real !== hawserHome && liesIn(real, hawserHome) ? ok({ ownHome }) : outside(ownHome)
}

function atHome(path: string, homes: readonly string[]): readonly string[] {
  return path.startsWith('~/') ? homes.map((home) => join(home, path.slice(2))) : [path]
}
