import { countOf } from '../encoding/amounts.ts'
import { shownPath } from '../host/files/confined-path.ts'
import type { Clock } from '../host/clock.ts'
import type { Snapshots } from '../host/snapshots/snapshots.ts'
import type { Pass } from '../host/snapshots/workspace-tree.ts'
import type { HawserError, Result } from '../model/errors.ts'
import type { EventData, EventDraft } from '../model/events/event.ts'
import { notice } from '../model/events/notice.ts'
import { readablePath, type PathChange } from '../model/events/snapshot-entry.ts'
import type { AroundCommand } from './parts/around-command.ts'

type SnapshotData = EventData<'workspace_snapshot'>

export interface SnapshotParts {
  readonly call_id: string
  readonly clock: Pick<Clock, 'after'>
  readonly open: () => Promise<Snapshots>
  /** Gives up the first snapshot: the person interrupts, and the command does not start. */
  readonly signal: AbortSignal
  /** Tells people what takes long. */
  readonly say: (text: string) => void
  /** Removes keys. */
  readonly redact: (text: string) => string
}

export function aroundCommand(parts: SnapshotParts): AroundCommand {
  let beginning: Promise<Beginning> | undefined
  const begin = () => (beginning ??= beginSnapshot(parts))
  return {
    begin: async () => (await begin()).drafts,
    end: async () => {
      const begun = await beginning
      if (begun?.before === undefined) return []
      return endSnapshot(parts, begun.before)
    },
  }
}

/** The second snapshot of a command that was killed together with Hawser. */
export async function lateSnapshot(
  parts: SnapshotParts,
  before: string,
): Promise<readonly EventDraft[]> {
  return endSnapshot(parts, { tree: before }, { by_others: true })
}

interface Beginning {
  readonly drafts: readonly EventDraft[]
  readonly before?: Pass
}

async function beginSnapshot(parts: SnapshotParts): Promise<Beginning> {
  const taken = await takePatiently(parts, parts.signal)
  if (!taken.ok) return { drafts: missingDrafts(parts, taken.error) }
  const data = { call_id: parts.call_id, before: taken.value.tree }
  return { drafts: [{ type: 'workspace_snapshot', data }], before: taken.value }
}

async function endSnapshot(
  parts: SnapshotParts,
  before: Pick<Pass, 'tree'> & Partial<Pass>,
  flags: Pick<SnapshotData, 'by_others'> = {},
): Promise<readonly EventDraft[]> {
  const taken = await takePatiently(parts)
  if (!taken.ok) return missingDrafts(parts, taken.error, before.tree)
  const { tree, uncoveredPaths } = taken.value
  const ids = { call_id: parts.call_id, before: before.tree, after: tree }
  const gaps = before.uncoveredPaths && differing(before.uncoveredPaths, uncoveredPaths)
  if (tree === before.tree) {
    const data = { ...ids, ...uncoveredOf(parts, gaps ?? []), ...flags }
    return [{ type: 'workspace_snapshot', data }]
  }
  const changes = await (await parts.open()).changes(before.tree, tree)
  if (!changes.ok) return missingDrafts(parts, changes.error, before.tree)
  const data = {
    ...ids,
    ...filesOf(parts, changes.value),
    ...uncoveredOf(parts, [...new Set([...(gaps ?? []), ...uncoveredPaths])]),
    ...flags,
  }
  return [
    { type: 'workspace_snapshot', data },
    ...removalNotice(parts, changes.value, before.files),
  ]
}

/** A snapshot that takes longer is given up; the next one continues where it stopped. */
const LONGEST_MS = 30_000
const SOON_MS = 2_000

async function takePatiently(
  { open, clock, say }: SnapshotParts,
  signal?: AbortSignal,
): Promise<Result<Pass>> {
  const stop = new AbortController()
  let files = 0
  const cancels = [
    clock.after(SOON_MS, () =>
      say(`Taking a snapshot of the workspace (${countOf(files, 'file')} so far).`),
    ),
    clock.after(LONGEST_MS, () => stop.abort()),
  ]
  try {
    const snapshots = await open()
    return await snapshots.take({
      signal: signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]),
      onProgress: (count) => void (files = count),
    })
  } finally {
    for (const cancel of cancels) cancel()
  }
}

/** Said with every such command: undo does not cover it. */
function missingDrafts(
  { call_id }: SnapshotParts,
  { message }: HawserError,
  before?: string,
): readonly EventDraft[] {
  const data = { call_id, ...(before === undefined ? {} : { before }), why: message }
  const text = `No snapshot of the workspace was taken, so undo and diff do not cover what this command changes. ${message}`
  return [{ type: 'workspace_snapshot', data }, notice('no_snapshot', text)]
}

/** How many paths an Event names. */
const NAMED_FILES = 200
const NAMED_UNCOVERED = 20

function filesOf(
  { redact }: SnapshotParts,
  changes: readonly PathChange[],
): Pick<SnapshotData, 'files' | 'counts'> {
  const files = changes.flatMap(({ path, before, after }) => {
    if ((before ?? after)?.kind === 'folder' && (after ?? before)?.kind === 'folder') return []
    const change = before === undefined ? 'created' : after === undefined ? 'removed' : 'changed'
    return [{ path: redact(readablePath(path)), change } as const]
  })
  if (files.length === 0) return {}
  const numberOf = (kind: string) => files.filter(({ change }) => change === kind).length
  return {
    files: files.slice(0, NAMED_FILES),
    counts: {
      created: numberOf('created'),
      changed: numberOf('changed'),
      removed: numberOf('removed'),
    },
  }
}

/** What is not covered and is only in one of two passes. */
function differing(
  one: Pass['uncoveredPaths'],
  other: Pass['uncoveredPaths'],
): Pass['uncoveredPaths'] {
  const [here, there] = [pathsOf(one), pathsOf(other)]
  return [
    ...one.filter(({ path }) => !there.has(path)),
    ...other.filter(({ path }) => !here.has(path)),
  ]
}

function pathsOf(uncovered: Pass['uncoveredPaths']): ReadonlySet<string> {
  return new Set(uncovered.map(({ path }) => path))
}

function uncoveredOf(
  { redact }: SnapshotParts,
  uncovered: Pass['uncoveredPaths'],
): Pick<SnapshotData, 'uncovered' | 'uncovered_count'> {
  if (uncovered.length === 0) return {}
  const named = uncovered.slice(0, NAMED_UNCOVERED)
  return {
    uncovered: named.map(({ path, why }) => ({ path: redact(readablePath(path)), why })),
    ...(named.length < uncovered.length ? { uncovered_count: uncovered.length } : {}),
  }
}

const MANY_REMOVED = 50
const LEAST_HALF = 3
const NAMED_REMOVED = 3

/** A command that removed many files, or the repository, is named at once, with the way back. Moved files are not removed. */
function removalNotice(
  { redact }: SnapshotParts,
  changes: readonly PathChange[],
  covered: number | undefined,
): readonly EventDraft[] {
  const gone = changes.filter(({ before, after }) => after === undefined && before !== undefined)
  const isRepository = gone.some(({ path }) => path === '.git/HEAD')
  const files = withoutMoved(changes).filter(({ path }) => !isOfGit(path))
  const count = files.length
  const isHalf = covered !== undefined && count >= LEAST_HALF && count * 2 >= covered
  if (count <= MANY_REMOVED && !isHalf && !isRepository) return []
  const amount =
    covered === undefined ? countOf(count, 'file') : `${count} of ${countOf(covered, 'file')}`
  const named = files.slice(0, NAMED_REMOVED).map(({ path }) => shownPath(readablePath(path)))
  const rest = count > named.length ? ', …' : ''
  const what = [
    ...(count === 0 ? [] : [`${amount} (${redact(named.join(', '))}${rest})`]),
    ...(isRepository ? ['the repository (.git)'] : []),
  ]
  const text = `The command removed ${what.join(' and ')}. To put everything back: hawser undo`
  return [notice('files_removed', text)]
}

/** Removed files and links whose content is not at a new path as well. */
function withoutMoved(changes: readonly PathChange[]): readonly PathChange[] {
  const created = new Map<string, number>()
  for (const { before, after } of changes) {
    const id = before === undefined ? contentOf(after) : undefined
    if (id !== undefined) created.set(id, (created.get(id) ?? 0) + 1)
  }
  return changes.filter(({ before, after }) => {
    const id = after === undefined ? contentOf(before) : undefined
    if (id === undefined) return false
    const copies = created.get(id) ?? 0
    if (copies > 0) created.set(id, copies - 1)
    return copies === 0
  })
}

function contentOf(entry: PathChange['before']): string | undefined {
  if (entry?.kind === 'file') return entry.sha256
  return entry?.kind === 'link' ? `to ${entry.target}` : undefined
}

function isOfGit(path: string): boolean {
  return path === '.git' || path.startsWith('.git/')
}
