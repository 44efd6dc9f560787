import type { EventDraft, LoggedEvent } from '../model/events/event.ts'
import type { PermissionMode } from '../model/modes.ts'

/**
 * Follows what a Log says about permission, to end it where no person here said it: in a Session that came from elsewhere,
 * or that lost lines which may have narrowed it.
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
   * What has to follow: `auto` becomes `ask`, narrower modes stay. Naming the provider, also the same one, ends every
   * recorded consent to upload bytes.
   */
  narrowed(): EventDraft {
    const permission_mode = this.#mode === 'auto' ? 'ask' : this.#mode
    const provider = this.#provider === undefined ? {} : { provider: this.#provider }
    return { type: 'session_settings', data: { ...provider, permission_mode } }
  }
}
