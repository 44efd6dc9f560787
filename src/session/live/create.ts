import { Redactor } from '../../encoding/redaction.ts'
import { freezeSurface, wordsHash } from '../../contract/surface.ts'
import type { LogWriter } from '../../log/append.ts'
import { createLog } from '../../log/open.ts'
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

/** Begins a Session: its surface is frozen and stored before its first line names it. The writer is the caller's to release. */
export async function createSession(
  parts: SessionParts,
  options: NewSession,
): Promise<Result<LogWriter<SessionState>>> {
  const { place, store, secrets } = parts.log
  const known = await parts.model.providerOf(options.provider)
  if (!known.ok) return known
  const surface = await surfaceEvent(parts, options, 'session_start')
  if (!surface.ok) return surface
  const id = place.ids.session()
  const keep = (bytes: Buffer, type: string) => store.put([bytes], type)
  const first = new Redactor(secrets).value([startEvent(parts, options), surface.value])
  return createLog(place, id, first, { fold: sessionFold, keep })
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

/** A surface of the toolset of this version, for one model, stored, as the Event that names it. */
export async function surfaceEvent(
  { log: { store }, model: shared, tools: { schemas: tools } }: SessionParts,
  { provider, model }: Pick<NewSession, 'provider' | 'model'>,
  reason: EventData<'prompt_surface'>['reason'],
): Promise<Result<EventDraft>> {
  const { contract } = shared
  const params = surfaceParams(shared, provider, model)
  const frozen = freezeSurface({ model, tools, skillsIndex: '', params, contract })
  const blob = await store.put([frozen.bytes], 'application/json')
  if (!blob.ok) return blob
  const { layer0_sha256, layer1_sha256, toolset_sha256, skills_sha256, surface } = frozen
  return ok({
    type: 'prompt_surface',
    data: {
      contract_version: surface.contract_version,
      layer0_sha256,
      layer1_sha256,
      toolset_sha256,
      skills_sha256,
      words_sha256: wordsHash(contract),
      blob: blob.value,
      params: surface.params,
      reason,
    },
  })
}

/**
 * What has to be recorded before the next Turn. A kill in the very first write can leave a Session without a surface; nothing
 * was ever asked under it. One that was written with other sentences keeps its surface, and says that these follow.
 */
export async function surfaceToRecord(
  parts: SessionParts,
  events: readonly WholeEvent[],
  state: SessionState,
): Promise<Result<EventDraft | undefined>> {
  const last = events.findLast((event) => event.type === 'prompt_surface')
  if (last === undefined) return surfaceEvent(parts, state, 'session_start')
  const words_sha256 = wordsHash(parts.model.contract)
  if (last.data.words_sha256 === words_sha256) return ok(undefined)
  return ok({ type: 'prompt_surface', data: { ...last.data, words_sha256, reason: 'reload' } })
}
