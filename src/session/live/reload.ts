import { ok, type Result } from '../../model/errors.ts'
import { newerSurface } from '../surface/current-surface.ts'
import { recordedSurface } from '../surface/recorded-surface.ts'
import { surfaceChange } from '../surface/surface-change.ts'
import { storeSurface } from './create.ts'
import type { LiveSession } from './live-session.ts'
import type { SessionParts } from './session-parts.ts'

/**
 * Takes over the surface on disk, between Turns, and returns what changed in words for a person; `undefined` if nothing
 * did. The next request shares nothing with earlier ones from the first change on.
 */
export async function reloadSurface(
  parts: SessionParts,
  session: LiveSession,
): Promise<Result<string | undefined>> {
  return session.between<string | undefined>(async ({ record }) => {
    const found = await recordedSurface(parts.log.store, session.events)
    if (!found.ok) return found
    const { surface, event } = found.value
    const newer = await newerSurface(parts, session.state, event, 'reload')
    if (newer === undefined) return ok(undefined)
    const stored = await storeSurface(parts.log, newer)
    if (!stored.ok) return stored
    const done = await record([stored.value])
    if (!done.ok) return done
    return ok(surfaceChange(surface, newer.frozen.surface))
  })
}
