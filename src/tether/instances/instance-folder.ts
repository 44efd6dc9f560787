import { join } from 'node:path'
import { shownPath } from '../../host/files/confined-path.ts'
import { checkFolder, identifyFolder } from '../../host/files/folder-identity.ts'
import { realFolder } from '../../host/files/real-folder.ts'
import { failed, type Failed, type Result } from '../../model/errors.ts'
import { isSameFolder, type FolderIdentity } from '../../model/folder-identity.ts'
import type { InstanceFolder, InstanceRecord } from '../../model/tether/instance.ts'
import { makeFolder, type OpenInstanceFolder } from './instance-spend.ts'
import { belowNoRoot, besideHome, OWN_WORKSPACE, ownWorkspace } from './workspace-place.ts'

export interface FolderParts {
  readonly record: () => InstanceRecord
  /** Records the folder durably. */
  readonly keepFolder: (folder: InstanceFolder) => Promise<Result<unknown>>
  /** Folders below which programs may choose workspaces, as set now. */
  readonly roots: () => Promise<Result<readonly string[]>>
  /** Paths of `$HAWSER_HOME` and of the folder of the Instance in it. */
  readonly home: string
  readonly path: string
  readonly folder: OpenInstanceFolder
}

/**
 * The folder that an Instance works in: the one that was recorded, and no other that is at its path now. A record of an older
 * version has none; then the path decides once, if no link is on it. The rules for choosing a workspace apply at every start.
 */
export async function instanceFolder(parts: FolderParts): Promise<Result<FolderIdentity>> {
  const { folder: recorded, workspace = OWN_WORKSPACE } = parts.record()
  const known = recorded?.of === workspace ? recorded : undefined
  const found = await (workspace === OWN_WORKSPACE
    ? ownFolder(parts, known)
    : chosenFolder(parts, workspace, known))
  if (!found.ok) return found
  if (known !== undefined && isAsRecorded(known, found.value)) return found
  const kept = await parts.keepFolder({ ...found.value, of: workspace })
  return kept.ok ? found : kept
}

function isAsRecorded(known: FolderIdentity, now: FolderIdentity): boolean {
  return isSameFolder(known, now) && known.dev === now.dev && known.boot === now.boot
}

async function chosenFolder(
  parts: FolderParts,
  workspace: string,
  known: FolderIdentity | undefined,
): Promise<Result<FolderIdentity>> {
  const { record, home } = parts
  const found = known === undefined ? await withoutLinks(workspace) : await checkFolder(known)
  if (!found.ok) return movedFolder(record(), workspace, found)
  const { path } = found.value
  const refused = (await besideHome(path, home)) ?? (await outsideRoots(parts, path))
  return refused ?? found
}

/** It is created if it is missing: nothing in it can be trusted. */
async function ownFolder(
  { record, home, path, folder }: FolderParts,
  known: FolderIdentity | undefined,
): Promise<Result<FolderIdentity>> {
  const realHome = await realFolder(home)
  if (!realHome.ok) return realHome
  const own = join(realHome.value, ownWorkspace(path).slice(home.length))
  const found = known === undefined ? await withoutLinks(own) : await checkFolder(known)
  if (found.ok) return found
  if (found.error.kind !== 'not_found') return movedFolder(record(), OWN_WORKSPACE, found)
  const made = await makeFolder(folder, 'workspace')
  return made.ok ? withoutLinks(own) : made
}

async function outsideRoots(
  { record, roots }: FolderParts,
  path: string,
): Promise<Failed | undefined> {
  if (record().workspace_by !== 'mcp') return undefined
  const allowed = await roots()
  return allowed.ok ? belowNoRoot(allowed.value, path) : allowed
}

/** The folder at a path that was recorded without its identity. */
async function withoutLinks(path: string): Promise<Result<FolderIdentity>> {
  const found = await identifyFolder(path)
  if (!found.ok || found.value.path === withoutSlash(path)) return found
  return failed('outside_workspace', `A link is on the path ${shownPath(path)}.`)
}

function withoutSlash(path: string): string {
  return join(path, '.').replace(/(?<=.)\/$/, '')
}

function movedFolder(
  { handle }: InstanceRecord,
  workspace: string,
  { error: { kind, message, details } }: Failed,
): Failed {
  const text =
    kind === 'outside_workspace'
      ? `The workspace ${shownPath(workspace)} is not the folder that the Instance ${handle} was mapped to. ${message}`
      : `The workspace ${shownPath(workspace)} cannot be used. ${message}`
  const target = workspace === OWN_WORKSPACE ? workspace : 'DIR'
  return failed(kind, text, { ...details, field: 'workspace' }, [
    { action: 'Move the folder back to this path.' },
    {
      action: 'Or choose the folder that it is to work in.',
      command: `hawser instance map ${handle} ${target}`,
    },
  ])
}
