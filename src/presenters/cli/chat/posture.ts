import { lastPressure } from '../../../history/last-pressure.ts'
import { windowShare } from '../render/pressure-words.ts'
import type { Session } from '../../../session/session.ts'
import type { ModeChange } from '../../../session/admission/settings-change.ts'

type State = Pick<Session['state'], 'mode' | 'permission_mode'>

/** The mode in force, for the status line. */
export function postureWords({ mode, permission_mode }: State): string {
  return mode === 'plan' ? 'plan, read-only' : permission_mode
}

/** How full the window was at the last call, if that is known. */
export function fullness({ events }: Pick<Session, 'events'>): string[] {
  const pressure = lastPressure(events)
  return pressure === undefined || pressure === 'unavailable' ? [] : [windowShare(pressure)]
}

/**
 * The next mode after Shift-Tab: plan, ask, auto, and plan again. From read-only, which is not in the cycle, it goes to
 * ask.
 */
export function nextPosture({ mode, permission_mode }: State): ModeChange {
  if (mode === 'plan') return { mode: 'build', permission_mode: 'ask' }
  if (permission_mode === 'auto') return { mode: 'plan' }
  return { permission_mode: permission_mode === 'ask' ? 'auto' : 'ask' }
}
