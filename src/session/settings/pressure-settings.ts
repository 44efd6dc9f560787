import { TIER_PERCENT } from '../../model/limits.ts'
import type { Settings } from '../../model/settings.ts'
import type { PressureSettings } from '../live/session-parts.ts'

/** What the settings say about the window of a model. Pure. */
export function pressureSettings({ pressure = {}, compaction }: Settings): PressureSettings {
  const { advisory_percent, warning_percent, critical_percent } = pressure
  return {
    limits: {
      advisory: advisory_percent ?? TIER_PERCENT.advisory,
      warning: warning_percent ?? TIER_PERCENT.warning,
      critical: critical_percent ?? TIER_PERCENT.critical,
    },
    policy: compaction?.policy,
  }
}
