import { Redactor } from '../../encoding/redaction.ts'
import { sha256 as hashOf } from '../../encoding/hash.ts'
import { bufferedFiles } from '../../host/files/buffered-files.ts'
import { FILE_BYTES } from '../../host/files/confined-write.ts'
import { openMode } from '../../host/snapshots/restore.ts'
import type { Snapshots } from '../../host/snapshots/snapshots.ts'
import {
  isSameState,
  type ComposedChange,
  type FileState,
  type StoredContent,
} from '../../history/file-changes.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventData } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import { readablePath, type SnapshotEntry } from '../../model/events/snapshot-entry.ts'
import type { SessionParts } from '../live/session-parts.ts'

type FilesRestored = EventData<'files_restored'>
type RestoredFile = FilesRestored['files'][number]

export interface RestoreParts {
  readonly log: Pick<SessionParts['log'], 'store' | 'secrets'>
  readonly tools: Pick<SessionParts['tools'], 'files' | 'buffers'>
  readonly snapshots: Snapshots
  readonly session: SessionId
  /** Paths that something else changed since are restored too. */
  readonly force: boolean
}

/**
 * Makes paths what they were before these changes. A path that is not as the changes left it is left alone, unless forced; so is one
 * with unsaved changes in an editor, always. What is replaced is stored first, so that it can be put back.
 */
export async function restoreFiles(
  parts: RestoreParts,
  changes: readonly ComposedChange[],
): Promise<Result<Pick<FilesRestored, 'files' | 'before' | 'after'>>> {
  const { snapshots } = parts
  const planned = await plansOf(parts, changes)
  if (!planned.ok) return planned
  const plans = planned.value
  const steps = plans.flatMap(({ change: { path }, now, to }) =>
    to === undefined ? [] : [{ path, expect: now, to: to.entry }],
  )
  if (steps.length === 0) return ok({ files: filesOf(plans, new Map()) })
  const paths = steps.map(({ path }) => path)
  const before = await snapshots.capture(paths)
  if (!before.ok) return before
  const stored = new Map(
    changes.flatMap(({ from }) => (from?.kind === 'stored' ? [[from.sha256, from]] : [])),
  )
  const outcomes = await snapshots.restore(steps, async (sha256) => {
    const content = stored.get(sha256)
    return content && exactContent(parts, content)
  })
  if (!outcomes.ok) return outcomes
  const after = await snapshots.capture(paths)
  if (!after.ok) return after
  const lost = outcomes.value.lostObjects.map((path) => {
    return { path, change: 'created', outcome: 'failed', why: 'overwritten' } as const
  })
  const files = [...filesOf(plans, outcomes.value.outcomes), ...lost]
  return ok({ files, before: before.value, after: after.value })
}

interface Plan {
  readonly change: ComposedChange
  readonly now: SnapshotEntry | undefined
  /** Absent if the path is not touched: `outcome` says why. */
  readonly to?: { readonly entry: SnapshotEntry | undefined }
  readonly outcome: RestoredFile['outcome']
  readonly why?: string
}

/** What would happen to each path now, and why. */
export async function plansOf(
  parts: RestoreParts,
  changes: readonly ComposedChange[],
): Promise<Result<readonly Plan[]>> {
  const found = await parts.snapshots.entries(changes.map(({ path }) => path))
  if (!found.ok) return found
  const plans: Plan[] = []
  for (const change of changes)
    plans.push(await planOf(parts, change, found.value.get(change.path)))
  return ok(plans)
}

async function planOf(
  parts: RestoreParts,
  change: ComposedChange,
  now: SnapshotEntry | undefined,
): Promise<Plan> {
  const { path, from, to, isInterrupted } = change
  const keep = (outcome: Plan['outcome'], why?: string) => {
    return { change, now, outcome, ...(why === undefined ? {} : { why }) }
  }
  if (isSameState(from, now)) return keep('restored')
  if (await isUnsaved(parts, path)) return keep('changed_since')
  // It cannot be stored, so it could not be put back.
  if (now?.kind === 'uncovered' && to?.kind !== 'uncovered')
    return keep('changed_since', 'uncovered')
  const isLeft = isSameState(to, now) && !isInterrupted && to?.kind !== 'uncovered'
  if (!isLeft && !isHalfMade(from, now) && !parts.force) return keep('changed_since')
  if (from?.kind === 'uncovered') return keep('failed', 'uncovered')
  if (from?.kind !== 'stored') return { change, now, to: { entry: from }, outcome: 'restored' }
  const bytes = (await exactContent(parts, from)) ?? (await parts.snapshots.content(from.sha256))
  if (bytes === undefined) return keep('failed', from.isRedacted ? 'redacted' : undefined)
  const mode = now?.kind === 'file' ? now.mode : NEW_MODE
  const entry = { kind: 'file', mode, size: bytes.length, sha256: from.sha256 } as const
  return { change, now, to: { entry }, outcome: 'restored' }
}

/** A kill left a folder open whose entries were being restored. */
function isHalfMade(from: FileState, now: SnapshotEntry | undefined): boolean {
  return from?.kind === 'folder' && now?.kind === 'folder' && now.mode === openMode(from.mode)
}

const NEW_MODE = 0o644

/** What a person has typed and not saved is never replaced. */
async function isUnsaved({ tools, session }: RestoreParts, path: string): Promise<boolean> {
  const buffers = tools.buffers?.(session)
  if (buffers === undefined) return false
  const shown = await bufferedFiles(tools.files, buffers).read(path, FILE_BYTES)
  return shown.ok && shown.value.isUnsaved === true
}

/** The real content of what a tool stored; `undefined` if only a redacted copy is left. */
async function exactContent(
  { log: { store, secrets } }: Pick<RestoreParts, 'log'>,
  { blob, sha256, isRedacted }: StoredContent,
): Promise<Buffer | undefined> {
  const stored = await store.get(blob)
  if (!stored.ok) return undefined
  if (!isRedacted) return stored.value
  return new Redactor(secrets).restore(stored.value, (bytes) => hashOf(bytes) === sha256)
}

/** A folder is named if nothing in it is. */
export function filesOf(
  plans: readonly Plan[],
  outcomes: ReadonlyMap<string, string>,
): readonly RestoredFile[] {
  const parents = new Set(plans.flatMap(({ change }) => parentsOf(change.path)))
  return plans.flatMap(({ change, now, to, ...known }) => {
    const { path, from } = change
    const isFolder = (from ?? change.to)?.kind === 'folder'
    if (isFolder && parents.has(path)) return []
    const reached = to === undefined ? undefined : outcomes.get(path)
    const why = reached === 'missing' ? 'missing' : known.why
    return {
      path: readablePath(isFolder ? `${path}/` : path),
      ...blobsOf(change),
      change: from === undefined ? 'removed' : now === undefined ? 'created' : 'changed',
      outcome: outcomeOf(reached) ?? known.outcome,
      ...(why === undefined ? {} : { why }),
    }
  })
}

function parentsOf(path: string): readonly string[] {
  const parents: string[] = []
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1))
    parents.push(path.slice(0, end))
  return parents
}

function outcomeOf(reached: string | undefined): RestoredFile['outcome'] | undefined {
  if (reached === undefined) return undefined
  return reached === 'restored' || reached === 'changed_since' ? reached : 'failed'
}

function blobsOf({ from, to }: ComposedChange): Partial<RestoredFile> {
  const [before, after] = [realHash(from), realHash(to)]
  const redacted_of = {
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  }
  return {
    ...(from?.kind === 'stored' ? { before_blob: from.blob } : {}),
    ...(to?.kind === 'stored' ? { after_blob: to.blob } : {}),
    ...(Object.keys(redacted_of).length === 0 ? {} : { redacted_of }),
  }
}

/** Where the stored content is redacted. */
function realHash(state: FileState): string | undefined {
  return state?.kind === 'stored' && state.isRedacted ? state.sha256 : undefined
}
