import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  constants,
  fsyncSync,
  lstatSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { hasCode } from '../files/walked-folder.ts'
import { giveToOwner, inParent, makeFolder, type ParentFolder } from './below-root.ts'
import { nameOf, systemPath } from './names.ts'
import { MOST_FILE_BYTES } from './read-entry.ts'
import { isSameEntry, type SnapshotEntry as Entry } from '../../model/events/snapshot-entry.ts'
import { objectId } from './tree.ts'

/** What a path is to become. It is left alone if it is not as expected. */
export interface RestoreStep {
  readonly path: string
  readonly expect?: Entry | undefined
  readonly to?: Entry | undefined
}

/** `missing`: the content is not stored any more. */
export type RestoreOutcome = 'restored' | 'changed_since' | 'missing' | 'failed'

/**
 * The current entry of a path below `root`, without following a link on the way; `undefined` if there is none. For a file, with
 * its content, which is at most `MOST_FILE_BYTES` long.
 */
export async function entryAt(
  root: string,
  path: string,
): Promise<{ readonly entry: Entry | undefined; readonly bytes?: Buffer }> {
  const found = await inParent(root, path, 'open', (parent) => lookAt(parent))
  return found ?? { entry: undefined }
}

/**
 * Makes paths what they are to become: removals first, the deepest before its folder, then folders, then files and links. A folder with
 * entries that are not named stays. Files are synced before they get their name. Throws no system error: it is an outcome.
 */
export async function restorePaths(
  root: string,
  steps: readonly RestoreStep[],
  contentOf: (sha256: string) => Promise<Buffer | undefined>,
): Promise<ReadonlyMap<string, RestoreOutcome>> {
  const outcomes = new Map<string, RestoreOutcome>()
  const downwards = steps.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const upwards = downwards.toReversed()
  const each = async (
    some: readonly RestoreStep[],
    work: StepWork,
    how: 'open' | 'make' = 'open',
  ) => {
    for (const step of some) await one(step, work, how)
  }
  const one = async (step: RestoreStep, work: StepWork, how: 'open' | 'make') => {
    if (outcomes.has(step.path)) return
    let isThere = false
    const outcome = await inParent(root, step.path, how, (parent) => {
      isThere = true
      return work(step, parent)
    }).catch(asOutcome)
    // Something else is in the place of a folder on the way.
    if (!isThere && how === 'make') outcomes.set(step.path, 'changed_since')
    else if (outcome !== undefined) outcomes.set(step.path, outcome)
  }
  await each(downwards, async ({ to, expect }, parent) => {
    if (expect?.kind === 'folder' && to?.kind === 'folder' && isSameEntry(look(parent), expect))
      chmodSync(parent.at(parent.name), openMode(expect.mode))
    return undefined
  })
  await each(downwards, check)
  await each(upwards, remove)
  const present = downwards.filter(({ to }) => to !== undefined)
  const isFolder = ({ to }: RestoreStep) => to?.kind === 'folder'
  await each(present.filter(isFolder), makeStep, 'make')
  const written = present.filter((step) => !isFolder(step))
  const writeOne: StepWork = (step, parent) => write(step, parent, contentOf)
  // The disk waits once for several of them.
  for (let at = 0; at < written.length; at += WRITTEN_TOGETHER)
    await Promise.all(
      written.slice(at, at + WRITTEN_TOGETHER).map((step) => one(step, writeOne, 'make')),
    )
  await each(upwards.filter(isFolder), setMode)
  for (const { path } of steps) if (!outcomes.has(path)) outcomes.set(path, 'restored')
  await syncParents(root, steps)
  return outcomes
}

type StepWork = (step: RestoreStep, parent: ParentFolder) => Promise<RestoreOutcome | undefined>

const WRITTEN_TOGETHER = 16

/** Makes names durable, once for each folder. */
async function syncParents(root: string, steps: readonly RestoreStep[]): Promise<void> {
  const children = new Map(
    steps.map(({ path }) => [path.slice(0, path.lastIndexOf('/') + 1), path]),
  )
  for (const path of children.values())
    await inParent(root, path, 'open', async ({ descriptor }) => fsyncSync(descriptor))
}

/** What is already as it should be is done, and what is not as expected stays. */
async function check({ to, expect }: RestoreStep, parent: ParentFolder) {
  const { entry } = await lookAt(parent)
  if (isSameEntry(entry, to)) return 'restored' as const
  const isOpen = entry?.kind === 'folder' && expect?.kind === 'folder'
  return isOpen || isSameEntry(entry, expect) ? undefined : ('changed_since' as const)
}

async function remove({ to }: RestoreStep, parent: ParentFolder) {
  const at = parent.at(parent.name)
  const facts = lstatSync(at, { throwIfNoEntry: false })
  if (facts === undefined) return to === undefined ? ('restored' as const) : undefined
  if (facts.isDirectory()) {
    if (to?.kind === 'folder') return undefined
    try {
      rmdirSync(at)
    } catch (error) {
      // It has entries that were not in the snapshot.
      if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error
      return to === undefined ? ('restored' as const) : ('changed_since' as const)
    }
  } else if (to === undefined || to.kind === 'folder') unlinkSync(at)
  else return undefined
  return to === undefined ? ('restored' as const) : undefined
}

async function makeStep({ to }: RestoreStep, parent: ParentFolder) {
  if (to?.kind === 'folder')
    makeFolder(parent.at(parent.name), parent.descriptor, openMode(to.mode))
  return undefined
}

/** The mode of a folder while entries of it are restored. */
export function openMode(mode: number): number {
  return mode | 0o700
}

async function setMode({ to }: RestoreStep, parent: ParentFolder) {
  if (to?.kind === 'folder') chmodSync(parent.at(parent.name), to.mode)
  return undefined
}

async function write(
  { to }: RestoreStep,
  parent: ParentFolder,
  contentOf: (sha256: string) => Promise<Buffer | undefined>,
): Promise<RestoreOutcome> {
  const temporary = parent.at(`.hawser-${randomUUID()}.tmp`)
  if (to?.kind === 'link') {
    symlinkSync(systemPath(to.target), temporary)
    giveToOwner(temporary, parent.descriptor)
  } else if (to?.kind === 'file') {
    const bytes = await contentOf(to.sha256)
    if (bytes === undefined) return 'missing'
    await fill(temporary, bytes, to.mode, parent)
  } else return 'failed'
  try {
    renameSync(temporary, parent.at(parent.name))
  } catch (error) {
    unlinkSync(temporary)
    throw error
  }
  return 'restored'
}

/** For root, the owner is that of the folder. */
async function fill(
  temporary: string | Buffer,
  bytes: Buffer,
  mode: number,
  { descriptor }: ParentFolder,
): Promise<void> {
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(bytes)
    giveToOwner(temporary, descriptor)
    await handle.chmod(mode)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function look(parent: ParentFolder): Entry | undefined {
  const facts = lstatSync(parent.at(parent.name), { throwIfNoEntry: false })
  return facts?.isDirectory() === true ? { kind: 'folder', mode: facts.mode & 0o777 } : undefined
}

async function lookAt(parent: ParentFolder): Promise<{ entry: Entry | undefined; bytes?: Buffer }> {
  const at = parent.at(parent.name)
  const facts = lstatSync(at, { throwIfNoEntry: false })
  if (facts === undefined) return { entry: undefined }
  if (facts.isDirectory()) return { entry: { kind: 'folder', mode: facts.mode & 0o777 } }
  if (facts.isSymbolicLink())
    return { entry: { kind: 'link', target: nameOf(readlinkSync(at, 'buffer')) } }
  if (!facts.isFile()) return { entry: { kind: 'uncovered', why: 'not_regular_file' } }
  if (facts.size > MOST_FILE_BYTES) return { entry: { kind: 'uncovered', why: 'too_large' } }
  const bytes = await readFileAt(at)
  if (bytes === undefined) return { entry: { kind: 'uncovered', why: 'unreadable' } }
  const { length: size } = bytes
  return { entry: { kind: 'file', mode: facts.mode & 0o777, size, sha256: objectId(bytes) }, bytes }
}

async function readFileAt(at: string | Buffer): Promise<Buffer | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const handle = await open(at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined)
  if (handle === undefined) return undefined
  try {
    return (await handle.stat()).isFile() ? await handle.readFile() : undefined
  } catch {
    return undefined
  } finally {
    await handle.close()
  }
}

function asOutcome(error: unknown): RestoreOutcome {
  if (hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EISDIR')) return 'changed_since'
  if (error instanceof Error && 'code' in error) return 'failed'
  throw error
}
