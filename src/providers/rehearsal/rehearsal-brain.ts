import { systemClock, type Clock } from '../../host/clock.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Describe, Description } from '../../model/description.ts'
import { think, partsToInspect, type Thought } from './brain.ts'
import type { RehearsalRequest } from './schema.ts'
import { partBytes, type VisiblePart, type Descriptions } from './visible-parts.ts'

/** Answers each request independently. The same request gets the same answer, unless inspecting its bytes times out. */
export type Brain = (request: RehearsalRequest) => Promise<Thought>

/** The rehearsal model. Without `describe`, it answers that it cannot look into images and documents. */
export function rehearsalBrain(
  describe?: Describe,
  clock: Pick<Clock, 'monotonicMs'> = systemClock,
): Brain {
  return async (request) => {
    if (describe === undefined) return think(request)
    return think(request, await descriptionsOf(partsToInspect(request), describe, clock))
  }
}

/** One at a time, to limit memory use. */
async function descriptionsOf(
  shown: readonly VisiblePart[],
  describe: Describe,
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<Descriptions> {
  const end = clock.monotonicMs() + LIMITS.turn_attachment_ms
  const descriptions = new Map<VisiblePart['part'], Description>()
  for (const { part, media_type } of shown) {
    const late = clock.monotonicMs() > end
    descriptions.set(part, late ? TOO_LATE : await describe(partBytes(part), media_type))
  }
  return descriptions
}

const TOO_LATE: Description = {
  kind: 'unreadable',
  code: 'timeout',
  why: 'looking at what was shown before it took too long',
}
