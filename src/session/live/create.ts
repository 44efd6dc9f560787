import { Redactor } from '../../encoding/redaction.ts'
import { freezeSurface, wordsHash, type FrozenSurface } from '../../contract/surface.ts'
import { surfaceAfter } from '../../history/surface-record.ts'
import type { LogWriter } from '../../log/append.ts'
import { beginLog } from '../../log/open.ts'
import { LOG_START } from '../../log/scan.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventData, EventDraft, WholeEvent } from '../../model/events/event.ts'
import type { PermissionMode, SessionMode } from '../../model/modes.ts'
import type { SessionParts } from './session-parts.ts'
import { sessionFold, type SessionState } from './state.ts'
import { surfaceParams } from './surface-params.ts'

export interface NewSession {
  readonly provider: string
  readonly model: string
  readonly mode?: SessionMode
  readonly permissionMode?: PermissionMode
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
  const known = await parts.model.providerOf(options.provider)
  if (!known.ok) return known
  const id = place.ids.session()
  const keep = (bytes: Buffer, type: string) => store.put([bytes], type)
  // The surface is stored under the lock of the new Session, so that no sweep deletes it before a line names it.
  return beginLog(place, id, LOG_START, { fold: sessionFold, keep }, async (writer) => {
    const surface = await surfaceEvent(parts, options, 'session_start')
    if (!surface.ok) return surface
    const first = [startEvent(parts, options), surface.value]
    return writer.append(new Redactor(secrets).value(first))
  })
}

function startEvent(
  { workspace, log, person }: SessionParts,
  { provider, model, mode = 'build', permissionMode = 'ask' }: NewSession,
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
    },
  }
}

/** The surface of this version for one model. */
export function currentSurface(
  { model: shared, tools: { schemas: tools } }: SessionParts,
  { provider, model }: Pick<NewSession, 'provider' | 'model'>,
): FrozenSurface {
  const params = surfaceParams(shared, provider, model)
  return freezeSurface({ model, tools, skillsIndex: '', params, contract: shared.contract })
}

/** The Event that names a stored surface. */
export function surfaceDraft(
  { model: { contract } }: SessionParts,
  { layer0_sha256, layer1_sha256, toolset_sha256, skills_sha256, surface }: FrozenSurface,
  { blob, reason }: Pick<EventData<'prompt_surface'>, 'blob' | 'reason'>,
): EventDraft<'prompt_surface'> {
  return {
    type: 'prompt_surface',
    data: {
      contract_version: surface.contract_version,
      layer0_sha256,
      layer1_sha256,
      toolset_sha256,
      skills_sha256,
      words_sha256: wordsHash(contract),
      blob,
      params: surface.params,
      reason,
    },
  }
}

/** Stores a surface with the toolset of this version for one model, and returns the Event that names it. */
export async function surfaceEvent(
  parts: SessionParts,
  choice: Pick<NewSession, 'provider' | 'model'>,
  reason: EventData<'prompt_surface'>['reason'],
): Promise<Result<EventDraft>> {
  const frozen = currentSurface(parts, choice)
  const blob = await parts.log.store.put([frozen.bytes], 'application/json')
  return blob.ok ? ok(surfaceDraft(parts, frozen, { blob: blob.value, reason })) : blob
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
  if (last === undefined) return surfaceEvent(parts, state, 'session_start')
  const words_sha256 = wordsHash(parts.model.contract)
  if (last.words_sha256 === words_sha256) return ok(undefined)
  return ok({ type: 'prompt_surface', data: { ...last, words_sha256, reason: 'reload' } })
}
