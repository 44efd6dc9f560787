import { cacheKey } from '../../prompt/cache-key.ts'
import { SessionId } from '../../model/ids.ts'
import type { SessionMode } from '../../model/modes.ts'
import type { RecordedSurface } from './recorded-surface.ts'

/** What of a Session is in its cache key. */
interface FamilyState {
  readonly starting_mode: SessionMode
  readonly root_session_id: string
}

/** The Cache-Key Family of a Session's requests under its current surface. */
export function cacheKeyOf({ surface, event }: RecordedSurface, state: FamilyState): string {
  return cacheKey({
    contract_version: surface.contract_version,
    model: surface.model,
    mode: state.starting_mode,
    root_session_id: SessionId.parse(state.root_session_id),
    toolset_sha256: event.toolset_sha256,
    skills_sha256: event.skills_sha256,
  })
}
