import type { EventDraft, LoggedEvent } from '../model/events/event.ts'
import type { PermissionMode } from '../model/modes.ts'

/**
 * Tracks the permissions recorded in a Log, to revoke them where no person here granted them: in a Session from elsewhere,
 * or one that lost lines which may have restricted them.
 */
export class RecordedSettings {
  #mode: PermissionMode = 'ask'
  #provider: string | undefined

  see({ known, event }: LoggedEvent): void {
    if (!known) return
    if (event.type !== 'session_started' && event.type !== 'session_settings') return
    this.#mode = event.data.permission_mode ?? this.#mode
    this.#provider = event.data.provider ?? this.#provider
  }

  /**
   * The Event to append: `auto` becomes `ask`, stricter modes stay. Naming the provider, even the same one, revokes every
   * recorded consent to upload bytes.
   */
  narrowed(): EventDraft {
    const permission_mode = this.#mode === 'auto' ? 'ask' : this.#mode
    const provider = this.#provider === undefined ? {} : { provider: this.#provider }
    return { type: 'session_settings', data: { ...provider, permission_mode } }
  }
}
