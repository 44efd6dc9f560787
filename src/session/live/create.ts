import { Redactor } from '../../encoding/redaction.ts'
import { workspaceGaps } from '../../host/sandbox/mounts/wide-workspace.ts'
import { wordsHash } from '../../prompt/surface.ts'
import { surfaceAfter } from '../../history/surface-record.ts'
import type { LogWriter } from '../../log/append.ts'
import { beginLog } from '../../log/open.ts'
import { LOG_START } from '../../log/scan.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import type { PermissionMode, SessionMode } from '../../model/modes.ts'
import type { TetherBinding } from '../../model/tether/tether-address.ts'
import { keyedChoice } from '../surface/keyed-choice.ts'
import { unfitEffort } from '../surface/effort-choice.ts'
import { currentSurface, type SurfaceRecord } from '../surface/current-surface.ts'
import { appendedDrafts } from './appended-instructions.ts'
import type { SessionParts } from './session-parts.ts'
import { sessionFold, type SessionState } from './state.ts'

export interface NewSession {
  readonly provider: string
  readonly model: string
  readonly mode?: SessionMode
  readonly permissionMode?: PermissionMode
  /** Its own reasoning effort; by default, that of the settings or of the model. */
  readonly effort?: string | undefined
  /** Instructions for the model that the Session keeps. */
  readonly appendInstructions?: readonly string[]
  /** The conversation of an Instance that it belongs to. */
  readonly tether?: TetherBinding | undefined
}

/**
 * Creates a Session. The surface is frozen and stored before the first line names it. The caller must release the
 * writer.
 */
export async function createSession(
  parts: SessionParts,
  options: NewSession,
): Promise<Result<LogWriter<SessionState>>> {
  const { place, store, secrets } = parts.log
  const unfit = keyedChoice(secrets, options) ?? unfitEffort(parts.model, options)
  if (unfit !== undefined) return unfit
  const wide = wideWorkspaceNotice(parts.workspace.path)
  const [known, surface] = await Promise.all([
    parts.model.providerOf(options.provider),
    currentSurface(parts, options, 'session_start'),
  ])
  if (!known.ok) return known
  const id = place.ids.session()
  const keep = (bytes: Buffer, type: string) => store.put([bytes], type)
  // The surface is stored under the lock of the new Session, so that no sweep deletes it before a line names it.
  const start = { cursor: LOG_START, state: sessionFold.initial }
  return beginLog(place, id, start, { fold: sessionFold, keep }, async (writer) => {
    const named = await storeSurface(parts.log, surface)
    if (!named.ok) return named
    const appended = await appendedDrafts(parts.log, [], options.appendInstructions)
    if (!appended.ok) return appended
    const first = [
      startEvent(parts, options),
      ...effortDrafts(options),
      named.value,
      ...appended.value,
      ...wide,
    ]
    return writer.append(new Redactor(secrets).value(first))
  })
}

function effortDrafts({ effort }: NewSession): readonly EventDraft[] {
  return effort === undefined ? [] : [{ type: 'session_settings', data: { effort } }]
}

/** Once in a Session: in a home directory or at the root of the file system, commands reach more than in a project. */
function wideWorkspaceNotice(path: string): readonly EventDraft[] {
  return workspaceGaps(path).map((gap) =>
    notice('wide_workspace', `${gap} To limit this, start in a project folder.`),
  )
}

function startEvent(
  { workspace, log, person }: SessionParts,
  { provider, model, mode = 'build', permissionMode = 'ask', tether }: NewSession,
): EventDraft {
  return {
    type: 'session_started',
    data: {
      workspace: workspace.path,
      provider,
      model,
      mode,
      permission_mode: permissionMode,
      presenter: person.presenter,
      harness_version: log.version,
      ...(tether === undefined ? {} : { tether }),
    },
  }
}

/** Stores a surface, and returns the Event that names it. */
export async function storeSurface(
  { store }: Pick<SessionParts['log'], 'store'>,
  { frozen, draft }: SurfaceRecord,
): Promise<Result<EventDraft>> {
  const stored = await store.put([frozen.bytes], 'application/json')
  return stored.ok ? ok(draft) : stored
}

/**
 * The Events to record before the next Turn. A crash during the first write can leave a Session without a surface; no
 * request was sent then, so one is recorded now. A Session that was written with other prompt texts keeps its surface
 * and records that the texts changed.
 */
export async function surfaceToRecord(
  parts: SessionParts,
  events: readonly WholeEvent[],
  state: SessionState,
): Promise<Result<EventDraft | undefined>> {
  const last = surfaceAfter(events)
  if (last === undefined)
    return storeSurface(parts.log, await currentSurface(parts, state, 'session_start'))
  const words_sha256 = wordsHash(parts.model.contract)
  if (last.words_sha256 === words_sha256) return ok(undefined)
  return ok({ type: 'prompt_surface', data: { ...last, words_sha256, reason: 'reload' } })
}
