import type { PermissionMode, SessionMode } from '../../model/modes.ts'
import type { Effort } from '../../model/settings.ts'
import type { ModelChoice } from '../surface/surface-parts.ts'

/** Settings of a Session to change; an absent one does not change. They are recorded, and stay. */
export interface SettingsChange extends ModeChange {
  readonly model?: Pick<ModelChoice, 'provider' | 'model'>
  readonly effort?: Effort
  readonly title?: string
  /** Instructions for the model that the Session keeps; a text that it has is not added again. */
  readonly append_instructions?: readonly string[]
}

/**
 * Modes to set; an absent one does not change. Mode `plan` limits calls to read-only, whatever the permission mode is.
 */
export interface ModeChange {
  readonly mode?: SessionMode
  readonly permission_mode?: PermissionMode
}
