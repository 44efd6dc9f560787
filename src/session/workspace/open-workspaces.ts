import { identifyFolder } from '../../host/files/folder-identity.ts'
import type { WorkspaceRegister } from '../../host/workspace-register.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { FolderIdentity } from '../../model/folder-identity.ts'
import type { SessionId } from '../../model/ids.ts'
import type { OpenAt, OpenWorkspace } from './workspace.ts'

/**
 * The workspaces that requests use now, by the identity of their folder. Requests for one folder share it, whatever its spelling; it is
 * closed when the last of them has finished, so changed settings apply to the next one. A Session is served only from the
 * workspace that it belongs to.
 */
export interface Workspaces {
  /** Opens the workspace at a path, or shares it. `make` as in `OpenOptions`. Release it once. */
  hold(path: string, options?: { readonly make?: boolean }): Promise<Result<HeldWorkspace>>
  /** The workspace that a Session belongs to. */
  holdFor(session: SessionId): Promise<Result<HeldWorkspace>>
  /** The paths of all that are registered. */
  paths(): Promise<readonly string[]>
  /** Those that are open now. They may be closed by their users at any time. */
  all(): Promise<readonly OpenWorkspace[]>
  /** Refuses further requests, ends all Turns and streams, and resolves when all workspaces are closed. */
  close(): Promise<void>
}

export interface HeldWorkspace {
  /** Its real path. */
  readonly path: string
  readonly workspace: OpenWorkspace
  release(): Promise<void>
}

export function openWorkspaces(open: OpenAt, register: WorkspaceRegister): Workspaces {
  const entries = new Map<string, Entry>()
  const closing = new Set<Promise<void>>()
  let isClosed = false

  const share = async (key: string, entry: Entry): Promise<Result<HeldWorkspace>> => {
    entry.users += 1
    const release = onlyOnce(async () => {
      entry.users -= 1
      if (entry.users > 0) return
      if (entries.get(key) === entry) entries.delete(key)
      const closed = closeOf(entry)
      closing.add(closed)
      await closed.finally(() => closing.delete(closed))
    })
    const opened = await entry.opening
    if (!opened.ok) {
      await release()
      return opened
    }
    entry.workspace = opened.value
    return ok({ path: entry.path, workspace: opened.value, release })
  }

  const holdFolder = async (
    identity: FolderIdentity,
    make: boolean,
  ): Promise<Result<HeldWorkspace>> => {
    if (isClosed) return failed('overloaded', 'The server is stopping.')
    const { path } = identity
    const key = keyOf(identity)
    const known = entries.get(key)
    // One that was opened with `make: false` is as complete as any other.
    const entry: Entry = known ?? { path, users: 0, opening: open(path, { make, identity }) }
    entries.set(key, entry)
    const held = await share(key, entry)
    // The one that opened it did not create what is missing.
    return !held.ok && known !== undefined && make ? holdFolder(identity, make) : held
  }
  const hold: Workspaces['hold'] = async (path, { make = false } = {}) => {
    const identity = await identifyFolder(path)
    return identity.ok ? holdFolder(identity.value, make) : identity
  }

  return {
    hold,
    holdFor: async (session) => {
      // Looking it up reads files, and a Session that is open has only one workspace.
      const inUse = [...entries].find(([, { workspace }]) => workspace?.harness.isOpen(session))
      if (inUse !== undefined && !isClosed) return share(...inUse)
      const found = await register.workspaceOf(session)
      return found === undefined ? noSuchSession() : holdFolder(found, false)
    },
    paths: async () => (await register.all()).map(({ path }) => path),
    all: () => openedOf(entries.values()),
    close: async () => {
      isClosed = true
      const open_ = [...entries.values()].map(
        (entry) =>
          new Promise<void>((resolve) => {
            entry.onClosed = resolve
          }),
      )
      // Users that wait for a Turn, or for a reader to leave, release their workspace then.
      for (const { harness } of await openedOf(entries.values())) await harness.close()
      await Promise.all([...open_, ...closing])
    },
  }
}

/** Another folder that is at the same path now is another workspace. */
function keyOf({ path, dev, ino, born = '' }: FolderIdentity): string {
  return [path, dev, ino, born].join('\0')
}

interface Entry {
  readonly path: string
  users: number
  readonly opening: ReturnType<OpenAt>
  /** Set as soon as it is open. */
  workspace?: OpenWorkspace
  /** Called when it is closed. */
  onClosed?: () => void
}

async function openedOf(entries: Iterable<Entry>): Promise<readonly OpenWorkspace[]> {
  const opened = await Promise.all([...entries].map(({ opening }) => opening))
  return opened.flatMap((one) => (one.ok ? [one.value] : []))
}

async function closeOf({ opening, onClosed }: Entry): Promise<void> {
  const opened = await opening
  if (opened.ok) await opened.value.close()
  onClosed?.()
}

function onlyOnce(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => (done ??= work())
}

/** Runs `work` in a held workspace and releases it in any case. */
export async function inHeld<T>(
  holding: Promise<Result<HeldWorkspace>>,
  work: (held: HeldWorkspace) => Promise<Result<T>>,
): Promise<Result<T>> {
  const held = await holding
  if (!held.ok) return held
  try {
    return await work(held.value)
  } finally {
    await held.value.release()
  }
}

/** The same for an id that no Session has and for a text that is not an id, which is never repeated. */
export function noSuchSession(): Failed {
  return failed('not_found', 'No such Session.', {}, [{ action: 'List the Sessions of a folder.' }])
}
