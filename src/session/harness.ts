import { freezeSurface } from '../contract/surface.ts'
import { ok, type Result } from '../model/errors.ts'
import type { EventDraft } from '../model/event.ts'
import { SessionId } from '../model/ids.ts'
import { createLog } from '../log/open.ts'
import type { PermissionMode } from '../policy/decide.ts'
import { Session } from './session.ts'
import type { SessionParts } from './session-parts.ts'
import { sessionFold, type SessionState } from './state.ts'
import { openReader } from '../log/reader.ts'

export interface NewSession {
  readonly provider: string
  readonly model: string
  readonly mode?: 'build' | 'plan'
  readonly permissionMode?: PermissionMode
}

/** The one interface that presenters receive: everything a person can do with the Sessions of one workspace. */
export class Harness {
  readonly #parts: SessionParts

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** Begins a Session: its surface is frozen and stored before its first line names it. */
  async create(options: NewSession): Promise<Result<Session>> {
    const { place, store, workspace, presenter, version, toolSchemas, limits } = this.#parts
    const { provider, model, mode = 'build', permissionMode = 'ask' } = options
    const known = this.#parts.providerOf(provider)
    if (!known.ok) return known
    const frozen = freezeSurface({
      model,
      tools: toolSchemas,
      skillsIndex: '',
      params: {
        replay: 'attach-turn',
        late_role: 'developer',
        tool_choice: 'auto',
        limits: { provider_calls: limits.provider_calls },
      },
    })
    const blob = await store.put([frozen.bytes], 'application/json')
    if (!blob.ok) return blob
    const { layer0_sha256, layer1_sha256, toolset_sha256, skills_sha256, surface } = frozen
    const first: EventDraft[] = [
      {
        type: 'session_started',
        data: {
          workspace,
          provider,
          model,
          mode,
          permission_mode: permissionMode,
          presenter,
          harness_version: version,
        },
      },
      {
        type: 'prompt_surface',
        data: {
          contract_version: surface.contract_version,
          layer0_sha256,
          layer1_sha256,
          toolset_sha256,
          skills_sha256,
          blob: blob.value,
          params: surface.params,
          reason: 'session_start',
        },
      },
    ]
    const id = place.ids.session()
    const keep = (bytes: Buffer, type: string) => store.put([bytes], type)
    const writer = await createLog(place, id, first, { fold: sessionFold, keep })
    if (!writer.ok) return writer
    await writer.value.release()
    return this.open(id)
  }

  async open(id: SessionId): Promise<Result<Session>> {
    const session = new Session(this.#parts, id)
    const known = await session.catchUp()
    return known.ok ? ok(session) : known
  }

  /** Every Session of this workspace, the latest first, by way of their indexes. */
  async list(): Promise<Result<{ readonly id: SessionId; readonly state: SessionState }[]>> {
    const names = await this.#parts.place.sessions.names()
    const ids = names.flatMap(
      (name) => SessionId.safeParse(name.replace(/\.ndjson$/, '')).data ?? [],
    )
    const all: { id: SessionId; state: SessionState }[] = []
    for (const id of ids) {
      const reader = await openReader(this.#parts.place, id)
      if (!reader.ok) continue
      const folded = await reader.value.fold(sessionFold)
      await reader.value.close()
      if (folded.ok) all.push({ id, state: folded.value.state })
    }
    return ok(all.toSorted((a, b) => (a.state.last_ts < b.state.last_ts ? 1 : -1)))
  }
}
