import { lstat, readdir, realpath } from 'node:fs/promises'
import { foldedName } from '../../model/safety/folded-name.ts'
import { resolve } from 'node:path'
import type { EntryKind } from '../../model/error-cause.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { FolderIdentity } from '../../model/folder-identity.ts'
import { absent, liesIn, segmentsOf, shownPath, untouchable } from './confined-path.ts'
import { kindOf, linkRefused, readPlace } from './confined-read.ts'
import {
  atPlace,
  inGround,
  isRefused,
  relativePath,
  type Ground,
  type WalkedPlace,
} from './confined-walk.ts'
import {
  changedSince,
  removePlace,
  replacePlace,
  type ExpectedContent,
  type FilePlace,
} from './confined-write.ts'
import { asHostResult, closing } from './files.ts'
import { atFolder } from './folder-identity.ts'
import { enter, openRoot } from './walked-folder.ts'

/**
 * The files a model may access: those in the workspace and nothing else, whatever a path contains and whatever is swapped
 * meanwhile.
 *
 * A path is relative to the root, or absolute inside it. Errors: `invalid_args` for an invalid path; `outside_workspace`
 * when the path, or a link in it, leads outside; `protected_path` for a folder that is never accessed; `not_regular_file`
 * for a link, pipe, socket, device or folder where a file is expected (the cause `found` says which); `permission_denied`
 * with the cause `hard_link` for a file with a second name. Links on the way that stay inside are followed; a link at the
 * end never is. No method throws for the state of the disk. Each may be called at any time, also concurrently, until
 * `close`.
 */
export interface ConfinedFiles {
  /** The real path of the workspace. */
  readonly root: string
  /** At most `limit` bytes from the start of a file. Never blocks on a writer. */
  read(path: string, limit: number): Promise<Result<FileContent>>
  /**
   * Writes a file durably: after any crash, the file has either the old or the new content, complete. Creates missing folders.
   * `no_match` with the cause `changed_since` when the current content does not match `expect`, or when the path no
   * longer leads to `place`; `too_large` when the previous content cannot be returned.
   */
  write(path: string, bytes: Uint8Array, options: WriteOptions): Promise<Result<WriteResult>>
  /** Removes a file. Fails like `write` when the content or place is not as expected. */
  remove(
    path: string,
    options: { readonly expect: Exclude<ExpectedContent, 'absent'>; readonly place?: string },
  ): Promise<Result<{ readonly previous: Buffer }>>
  /** The entries of a folder, sorted by name. */
  list(path: string): Promise<Result<readonly Entry[]>>
  /** Whether anything exists at the path; a link counts. */
  exists(path: string): Promise<Result<boolean>>
  /** The path relative to the root with every link on its way resolved, also for a missing file; for policy and reports. */
  realRelative(path: string): Promise<Result<string>>
  /** Whether a path, by its text alone, lies in a folder that is never accessed; for paths that others listed. */
  isProtected(path: string): boolean
  close(): Promise<void>
}

export interface FileContent {
  /** The path, as `realRelative` returns it. */
  readonly path: string
  readonly bytes: Buffer
  /** The size when the file was opened; `bytes` is what was read. */
  readonly size: number
  /** The file has more than `limit` bytes. */
  readonly truncated: boolean
  /** The content is that of an editor, where the file is not saved. */
  readonly isUnsaved?: true
}

export interface WriteOptions {
  readonly expect: ExpectedContent
  /** Where the path led when the write was decided, as `realRelative` returned it. */
  readonly place?: string
}

export interface WriteResult {
  readonly path: string
  /** The previous content. */
  readonly previous: Buffer | undefined
}

interface Entry {
  readonly name: string
  readonly kind: EntryKind
}

export interface ConfinedOptions {
  /** Absolute folders that are never accessed, even if they do not exist yet: Hawser's own. */
  readonly refuse: readonly string[]
  /** Which folder the root must be. Default: the one that its path leads to. */
  readonly identity?: FolderIdentity | undefined
}

/** Opens a workspace. Links in the path of the root are followed, because a person chose it; below it, see `ConfinedFiles`. */
export async function openConfined(
  root: string,
  options: ConfinedOptions,
): Promise<Result<ConfinedFiles>> {
  return asHostResult('open the workspace', async () => {
    const ground = await openGround(resolve(root), options)
    if (ground.refusedNames.some((names) => names.length === 0)) {
      await ground.root.handle.close()
      return untouchable(root)
    }
    return ok(confinedTo(ground))
  })
}

function confinedTo(ground: Ground): ConfinedFiles {
  return {
    root: ground.spellings[0],
    read: (path, limit) =>
      at(ground, 'read', path, 'open', async (place) => {
        const file = await readPlace(ground, path, place, limit)
        if (!file.ok) return file
        const { bytes, truncated, facts } = file.value
        return ok({ path: place.relative, bytes, size: Number(facts.size), truncated })
      }),
    write: (path, bytes, { expect, place: decided }) =>
      atFile(ground, 'write', path, typeof expect === 'object' ? 'open' : 'make', async (place) => {
        if (decided !== undefined && decided !== place.relative) return changedSince(path)
        const previous = await replacePlace(ground, path, place, { bytes, expect })
        return previous.ok ? ok({ path: place.relative, previous: previous.value }) : previous
      }),
    remove: (path, { expect, place: decided }) =>
      atFile(ground, 'remove', path, 'open', async (place) => {
        if (decided !== undefined && decided !== place.relative) return changedSince(path)
        const previous = await removePlace(ground, path, place, expect)
        return previous.ok ? ok({ previous: previous.value }) : previous
      }),
    list: (path) => at(ground, 'list', path, 'open', (place) => entriesAt(ground, path, place)),
    exists: async (path) => {
      const there = await at(ground, 'check', path, 'open', isThere)
      return !there.ok && there.error.kind === 'not_found' ? ok(false) : there
    },
    realRelative: (path) =>
      asHostResult(`find ${shownPath(path)}`, () => relativePath(ground, path)),
    isProtected: (path) => {
      const segments = segmentsOf(path, ground.spellings)
      return segments.ok && isRefused(ground.refusedNames, segments.value)
    },
    close: () => ground.root.handle.close(),
  }
}

async function openGround(root: string, { refuse, identity }: ConfinedOptions): Promise<Ground> {
  const folder = await (identity === undefined ? openRoot(root) : atFolder(identity, openRoot))
  const spellings: [string, string] = [folder.path, root]
  const refused = [...refuse, ...(await realPaths(refuse))]
  const refusedNames = refused.flatMap((own) =>
    spellings.flatMap((spelling) => {
      if (liesIn(spelling, own)) return [[]]
      const names = segmentsOf(own, [spelling])
      return names.ok ? [names.value.map(foldedName)] : []
    }),
  )
  return { root: folder, spellings, refuse, refusedNames }
}

async function realPaths(paths: readonly string[]): Promise<string[]> {
  const real = paths.map((path) =>
    realpath(path).then(
      (found) => [found],
      () => [],
    ),
  )
  return (await Promise.all(real)).flat()
}

function at<T>(
  ground: Ground,
  verb: string,
  path: string,
  folders: 'open' | 'make',
  work: (place: WalkedPlace) => Promise<Result<T>>,
): Promise<Result<T>> {
  return asHostResult(`${verb} ${shownPath(path)}`, () => atPlace(ground, path, folders, work))
}

/** Like `at`, for paths that must name a file. */
async function atFile<T>(
  ground: Ground,
  verb: string,
  path: string,
  folders: 'open' | 'make',
  work: (place: FilePlace) => Promise<Result<T>>,
): Promise<Result<T>> {
  const meansFolder = path.endsWith('/')
  return at(ground, verb, path, meansFolder ? 'open' : folders, async (place) => {
    const { name } = place
    if (name !== undefined && !meansFolder) return work({ ...place, name })
    return failed('invalid_args', `${shownPath(path)} names a folder; expected a file.`, {
      reason: 'path',
    })
  })
}

async function entriesAt(
  ground: Ground,
  path: string,
  place: WalkedPlace,
): Promise<Result<readonly Entry[]>> {
  if (place.name === undefined) return ok(await entriesIn(place.folder.base))
  const found = await enter(place.folder, place.name)
  if (found === 'missing') return absent(path)
  if ('target' in found) return linkRefused(ground, path, place)
  return closing(found.handle, async () => {
    const stays = await inGround(ground, path, found)
    return stays.ok ? ok(await entriesIn(found.base)) : stays
  })
}

async function entriesIn(folder: string): Promise<Entry[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries
    .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function isThere({ folder, name }: WalkedPlace): Promise<Result<boolean>> {
  if (name !== undefined) await lstat(folder.at(name))
  return ok(true)
}
