import { realpath, stat } from 'node:fs/promises'
import { foldedName } from '../../model/safety/folded-name.ts'
import { join, resolve } from 'node:path'
import { failed, ok, withCause, type Result } from '../../model/errors.ts'
import {
  absent,
  liesIn,
  outside,
  segmentsOf,
  shownPath,
  untouchable,
} from '../files/confined-path.ts'
import { hasCode } from '../files/walked-folder.ts'

/** Where a command runs, with all links resolved. */
export interface WorkingDirectory {
  readonly workspace: string
  /** The workspace or a folder in it. */
  readonly folder: string
  /** `$HAWSER_HOME`, which may not exist. */
  readonly hawserHome: string
}

/**
 * Resolves the working directory of a command. Fails with `outside_workspace` when `folder` leads out of the workspace, by
 * its path or through links, and with `protected_path` when it leads into Hawser's own files. A link planted after this
 * check only leads a confined program to a place it cannot write.
 */
export async function workingDirectory(
  { workspace: root, home }: { readonly workspace: string; readonly home: string },
  folder = '.',
): Promise<Result<WorkingDirectory>> {
  const [workspace, hawserHome] = await Promise.all([realpath(root), real(home)])
  const segments = segmentsOf(folder, [workspace, resolve(root)])
  if (!segments.ok) return segments
  const found = await existing(join(workspace, ...segments.value))
  if (found === undefined) return absent(folder)
  if (!liesIn(found, workspace)) return outside(folder)
  if (!(await stat(found)).isDirectory()) {
    const refused = failed('not_regular_file', `${shownPath(folder)} is not a folder.`, {
      found: 'file',
    })
    return withCause(refused, { type: 'found', entry: 'file' })
  }
  return isOurs(found, workspace, hawserHome)
    ? untouchable(folder)
    : ok({ workspace, folder: found, hawserHome })
}

function isOurs(folder: string, workspace: string, hawserHome: string): boolean {
  const first = folder.slice(workspace.length).split('/').find(Boolean) ?? ''
  if (foldedName(first) === '.hawser') return true
  // The workspace of an Instance is the only folder in the home that is not Hawser's own.
  const isInstances = workspace !== hawserHome && liesIn(workspace, hawserHome)
  return !isInstances && liesIn(folder, hawserHome)
}

async function existing(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

async function real(path: string): Promise<string> {
  return (await existing(path)) ?? resolve(path)
}
