import { isUtf8 } from 'node:buffer'
import { sha256 } from '../../encoding/hash.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { changesSince, type ChangeSince } from '../../history/rewind/changes-since.ts'
import { ranCommands, type RanCommand } from '../../history/ran-commands.ts'
import { bufferedFiles } from '../../host/files/buffered-files.ts'
import type { ConfinedFiles } from '../../host/files/confined-files.ts'
import { FILE_BYTES } from '../../host/files/confined-write.ts'
import { causeOf, failed, ok, withCause, type Failed, type Result } from '../../model/errors.ts'
import type { EventData } from '../../model/events/event.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { BlobKey, TurnId } from '../../model/ids.ts'
import type { LiveSession } from '../live/live-session.ts'
import type { SessionParts } from '../live/session-parts.ts'
import { changingEvents, exactBefore } from './undo.ts'

export type RestoredFile = EventData<'files_restored'>['files'][number]

/** What to do with files that something else changed since: nothing at all, leave them, or overwrite them. */
export type ConflictChoice = 'refuse' | 'leave' | 'overwrite'

/** What restoring the files to before a Turn would do. */
export interface FilesBefore {
  /** The newest change first. */
  readonly files: readonly JudgedFile[]
  /** Commands since then; what they changed is not recorded and stays. */
  readonly commands: readonly RanCommand[]
}

interface JudgedFile {
  readonly change: ChangeSince
  readonly state: 'as_before' | 'as_left' | 'changed_since' | 'failed'
}

type RestoreParts = Pick<SessionParts, 'log' | 'tools'>

/** Reads what the Session changed since a Turn began, inherited Turns included, and what is in those files now. */
export async function filesBefore(
  parts: RestoreParts,
  session: LiveSession,
  turn: TurnId,
): Promise<Result<FilesBefore>> {
  const events = await changingEvents(parts.log, session)
  if (!events.ok) return events
  const all = events.value
  const begun = all.filter(({ type }) => type === 'turn_started')
  const number = begun.findIndex(({ turn_id }) => turn_id === turn) + 1
  const from = begun[number - 1]?.seq ?? Infinity
  const changes = changesSince(all.filter(({ seq }) => seq >= from))
  const files: JudgedFile[] = []
  for (const change of changes) files.push({ change, state: await stateOf(parts, session, change) })
  return ok({ files, commands: ranCommands(all).filter((ran) => ran.turn >= number) })
}

/** Why files are not restored without asking; `undefined` if nothing else changed them. */
export function changedSince({ files }: FilesBefore): Failed | undefined {
  const paths = files.flatMap(({ change, state }) =>
    state === 'changed_since' ? [change.path] : [],
  )
  if (paths.length === 0) return undefined
  const message = `Nothing was restored, because these files were changed by something else since: ${paths.join(', ')}.`
  const refused = failed('no_match', message, { files: paths }, [
    { action: 'Compare the files with what the Turns changed, or choose what happens to them.' },
  ])
  return withCause(refused, { type: 'files_changed', paths })
}

/** Restores the files. `conflicts` says what happens to those that something else changed. Can be repeated after a crash. */
export async function restoreBefore(
  parts: RestoreParts,
  session: Pick<LiveSession, 'id'>,
  { files }: FilesBefore,
  conflicts: ConflictChoice,
): Promise<readonly RestoredFile[]> {
  const done: RestoredFile[] = []
  for (const { change } of files) {
    const { hasGap: _, ...file } = change
    // Again, because asking took a while.
    const state = await stateOf(parts, session, change)
    if (state === 'as_left' || (state === 'changed_since' && conflicts === 'overwrite'))
      done.push(await restore(parts, session, change))
    else done.push({ ...file, outcome: state === 'as_before' ? 'restored' : state })
  }
  return done
}

async function stateOf(
  parts: RestoreParts,
  session: Pick<LiveSession, 'id'>,
  change: ChangeSince,
): Promise<JudgedFile['state']> {
  const now = await contentOf(parts, session, change)
  if (!now.ok) return 'failed'
  if (now.value === 'unsaved') return 'changed_since'
  const hash = now.value && sha256(now.value)
  if (hash === hashOf(change.before_blob, change.redacted_of?.before)) return 'as_before'
  if (change.hasGap) return 'changed_since'
  const left = hashOf(change.after_blob, change.redacted_of?.after)
  return hash === left ? 'as_left' : 'changed_since'
}

/** A key begins with the hash of its bytes. */
function hashOf(blob: BlobKey | undefined, exact: string | undefined): string | undefined {
  return exact ?? blob?.split('.', 1)[0]
}

/** `undefined` if there is no such file. What a person typed and did not save is never replaced. */
async function contentOf(
  { tools }: RestoreParts,
  { id }: Pick<LiveSession, 'id'>,
  { path }: ChangeSince,
): Promise<Result<Buffer | 'unsaved' | undefined>> {
  const now = await bufferedFiles(tools.files, tools.buffers?.(id)).read(path, FILE_BYTES)
  if (now.ok) return ok(now.value.isUnsaved === true ? 'unsaved' : now.value.bytes)
  return now.error.kind === 'not_found' ? ok(undefined) : now
}

/** What is replaced is kept first, and recorded as what the file had. */
async function restore(
  parts: RestoreParts,
  session: Pick<LiveSession, 'id'>,
  change: ChangeSince,
): Promise<RestoredFile> {
  const { files } = parts.tools
  const { hasGap: _, ...file } = change
  const { path, before_blob, redacted_of } = change
  const before = await exactBefore(parts.log, definedFields({ before_blob, redacted_of }))
  if (!before.ok) return { ...file, outcome: 'failed' }
  if (before.value === 'redacted') return { ...file, outcome: 'failed', why: 'redacted' }
  const now = await contentOf(parts, session, change)
  if (!now.ok) return { ...file, outcome: 'failed' }
  if (now.value === 'unsaved') return { ...file, outcome: 'changed_since' }
  const kept = await keep(parts.log, now.value)
  if (!kept.ok) return { ...file, outcome: 'failed' }
  const done = await replace(files, path, now.value, before.value)
  if (!done.ok) {
    const isChanged = causeOf(done.error)?.type === 'changed_since'
    return { ...file, outcome: isChanged ? 'changed_since' : 'failed' }
  }
  const exact = definedFields({ before: redacted_of?.before, after: kept.value.exact })
  return {
    path,
    ...definedFields({ before_blob, after_blob: kept.value.key }),
    ...(Object.keys(exact).length === 0 ? {} : { redacted_of: exact }),
    outcome: 'restored',
  }
}

async function replace(
  files: ConfinedFiles,
  path: string,
  now: Buffer | undefined,
  before: Buffer | undefined,
): Promise<Result<unknown>> {
  const expect = now === undefined ? 'absent' : { sha256: sha256(now) }
  if (before !== undefined) return files.write(path, before, { expect, place: path })
  return expect === 'absent' ? ok(undefined) : files.remove(path, { expect, place: path })
}

interface StoredContent {
  readonly key?: BlobKey
  /** The hash of the content, if what is stored is redacted. */
  readonly exact?: string
}

async function keep(
  { store, secrets }: SessionParts['log'],
  content: Buffer | undefined,
): Promise<Result<StoredContent>> {
  if (content === undefined) return ok({})
  const redactor = new Redactor(secrets)
  const bytes = redactor.bytes(content)
  const key = await store.put([bytes], isUtf8(bytes) ? 'text/plain' : 'application/octet-stream')
  if (!key.ok) return key
  return ok({ key: key.value, ...(redactor.holds(content) ? { exact: sha256(content) } : {}) })
}
