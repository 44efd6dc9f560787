import { systemClock, type Clock } from '../../host/clock.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Describe, Sight } from '../../model/sight.ts'
import { think, partsToInspect, type Thought } from './brain.ts'
import type { RehearsalRequest } from './schema.ts'
import { bytesOf, type VisiblePart, type Sights } from './sights.ts'

/** Answers each request independently. The same request gets the same answer, unless inspecting its bytes times out. */
export type Brain = (request: RehearsalRequest) => Promise<Thought>

/** The rehearsal model. Without `describe`, it answers that it cannot look into pictures and documents. */
export function rehearsalBrain(
  describe?: Describe,
  clock: Pick<Clock, 'monotonicMs'> = systemClock,
): Brain {
  return async (request) => {
    if (describe === undefined) return think(request)
    return think(request, await sightsOf(partsToInspect(request), describe, clock))
  }
}

/** One at a time, to limit memory use. */
async function sightsOf(
  shown: readonly VisiblePart[],
  describe: Describe,
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<Sights> {
  const end = clock.monotonicMs() + LIMITS.turn_attachment_ms
  const sights = new Map<VisiblePart['part'], Sight>()
  for (const { part, media_type } of shown) {
    const late = clock.monotonicMs() > end
    sights.set(part, late ? TOO_LATE : await describe(bytesOf(part), media_type))
  }
  return sights
}

const TOO_LATE: Sight = {
  kind: 'unreadable',
  code: 'timeout',
  why: 'looking at what was shown before it took too long',
}
