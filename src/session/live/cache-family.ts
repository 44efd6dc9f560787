import { cacheKey } from '../../contract/cache-key.ts'
import { SessionId } from '../../model/ids.ts'
import type { RecordedSurface } from '../surface/recorded-surface.ts'
import type { SessionState } from './state.ts'

/** The Cache-Key Family of a Session's requests under its current surface. */
export function cacheKeyOf({ surface, recorded }: RecordedSurface, state: SessionState): string {
  return cacheKey({
    contract_version: surface.contract_version,
    model: surface.model,
    mode: state.starting_mode,
    root_session_id: SessionId.parse(state.root_session_id),
    toolset_sha256: recorded.toolset_sha256,
    skills_sha256: recorded.skills_sha256,
  })
}
