import { realpathSync, statSync } from 'node:fs'
import process from 'node:process'
import { isHawserName } from '../../model/safety/folded-name.ts'
import { join, resolve } from 'node:path'
import { failed, ok, withCause, type Result } from '../../model/errors.ts'
import type { FolderIdentity } from '../../model/folder-identity.ts'
import {
  absent,
  liesIn,
  outside,
  segmentsOf,
  shownPath,
  untouchable,
} from '../files/confined-path.ts'
import { asHostResult } from '../files/files.ts'
import {
  checkFolder,
  holdFolder,
  identifyFolder,
  type HeldFolder,
} from '../files/folder-identity.ts'
import { hasCode } from '../files/walked-folder.ts'
import type { Confinement } from './confinement.ts'

/** Where a command runs, with all links resolved. */
export interface WorkingDirectory {
  readonly workspace: string
  /** Which folder the workspace is. */
  readonly identity: FolderIdentity
  /** The workspace or a folder in it. */
  readonly folder: string
  /** `$HAWSER_HOME`, which may not exist. */
  readonly hawserHome: string
}

/**
 * Resolves the working directory of a command. Fails with `outside_workspace` when `folder` leads out of the workspace, by
 * its path or through links, or if the workspace is not the folder of its identity, and with `protected_path` when it leads
 * into Hawser's own files. A link planted after this check only leads a confined program to a place it cannot write.
 */
export async function workingDirectory(
  { workspace: root, identity, home }: Pick<Confinement, 'workspace' | 'identity' | 'home'>,
  folder = '.',
): Promise<Result<WorkingDirectory>> {
  const known = await (identity === undefined
    ? identifyFolder(resolve(root))
    : checkFolder(identity))
  const hawserHome = real(home)
  if (!known.ok) return known
  const workspace = known.value.path
  const segments = segmentsOf(folder, [workspace, resolve(root)])
  if (!segments.ok) return segments
  const found = realIfThere(join(workspace, ...segments.value))
  if (found === undefined) return absent(folder)
  if (!liesIn(found, workspace)) return outside(folder)
  if (!statSync(found).isDirectory()) {
    const refused = failed('not_regular_file', `${shownPath(folder)} is not a folder.`, {
      found: 'file',
    })
    return withCause(refused, { type: 'found', entry: 'file' })
  }
  return isOurFolder(found, workspace, hawserHome)
    ? untouchable(folder)
    : ok({ workspace, identity: known.value, folder: found, hawserHome })
}

/** The checked directory itself, as a path for a child process. Close it when the child has started. */
export async function holdDirectory({
  identity,
  workspace,
  folder,
}: WorkingDirectory): Promise<Result<HeldFolder>> {
  const below = folder.slice(workspace.length).split('/').filter(Boolean)
  return asHostResult('open the working directory', async () => {
    const held = await holdFolder(identity, below)
    const path = held.path.replace('/proc/self/', `/proc/${process.pid}/`)
    return ok({ path, close: () => held.close() })
  })
}

function isOurFolder(folder: string, workspace: string, hawserHome: string): boolean {
  if (folder.slice(workspace.length).split('/').some(isHawserName)) return true
  // The workspace of an Instance is the only folder in the home that is not Hawser's own.
  const isInstances = workspace !== hawserHome && liesIn(workspace, hawserHome)
  return !isInstances && liesIn(folder, hawserHome)
}

function realIfThere(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

function real(path: string): string {
  return realIfThere(path) ?? resolve(path)
}
