import type { EventData, EventDraft, LoggedEvent } from '../model/events/event.ts'
import { PromptSurface } from '../model/events/session-events.ts'
import type { EventId } from '../model/ids.ts'
import { narrower, type PermissionMode, type SessionMode } from '../model/modes.ts'

/**
 * Tracks the permissions recorded in a Log, to revoke them where no person here granted them: in a Session from elsewhere,
 * or one that lost lines which may have restricted them.
 */
export class RecordedSettings {
  #permission: PermissionMode = 'ask'
  #mode: SessionMode | undefined
  #provider: string | undefined
  #model: string | undefined
  #surface: EventData<'prompt_surface'> | undefined
  /** Something that is not vouched for was left out. */
  #hasRefusal = false
  readonly #checkpoints: EventId[] = []

  /** A line that is not `vouched` for can only restrict. */
  see({ isKnown, event }: LoggedEvent, vouched = true): void {
    if (!isKnown) return
    if (event.type === 'session_started' || event.type === 'session_settings')
      this.#set(event.data, vouched)
    if (event.type === 'session_fork') this.#set(event.data, vouched)
    if (event.type === 'prompt_surface') {
      if (vouched) this.#surface = PromptSurface.safeParse(event.data).data
      else this.#hasRefusal = true
    }
    if (event.type === 'history_compaction' && !vouched) this.#checkpoints.push(event.id)
  }

  /**
   * The Events to append: `auto` becomes `ask`, stricter modes stay. Naming the provider, even the same one, revokes every
   * recorded consent to upload bytes. What is not vouched for is undone.
   */
  narrowingEvents(): readonly EventDraft[] {
    const permission_mode = narrower(this.#permission, 'ask')
    const provider = this.#provider === undefined ? {} : { provider: this.#provider }
    const kept = this.#hasRefusal
      ? { ...(this.#mode && { mode: this.#mode }), ...this.#providerAndModel() }
      : {}
    const settings: EventDraft = {
      type: 'session_settings',
      data: { ...provider, ...kept, permission_mode },
    }
    return [...this.#checkpoints.map(takenBack), ...this.#surfaceAgain(), settings]
  }

  #set(
    { permission_mode = this.#permission, mode, provider, model }: EventData<'session_settings'>,
    vouched: boolean,
  ): void {
    this.#hasRefusal ||= !vouched
    const isFirst = this.#provider === undefined
    this.#permission = vouched ? permission_mode : narrower(this.#permission, permission_mode)
    if (vouched || this.#mode === undefined || mode === 'plan') this.#mode = mode ?? this.#mode
    if (!vouched && !isFirst) return
    this.#provider = provider ?? this.#provider
    this.#model = model ?? this.#model
  }

  #providerAndModel(): { readonly model?: string } {
    return this.#model === undefined ? {} : { model: this.#model }
  }

  #surfaceAgain(): readonly EventDraft[] {
    if (!this.#hasRefusal || this.#surface === undefined) return []
    return [{ type: 'prompt_surface', data: { ...this.#surface, reason: 'reload' } }]
  }
}

function takenBack(compaction_event_id: EventId): EventDraft {
  return { type: 'compaction_undone', data: { compaction_event_id, reason: 'not_vouched' } }
}
