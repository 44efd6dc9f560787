import type { Clock } from '../../../src/host/clock.ts'
import { Harness } from '../../../src/session/harness.ts'
import { withChanges, withClock, type Changes } from './harness-parts.ts'
import { harnessPlace, type HarnessPlace } from './harness-place.ts'
import { WAITING } from './live-parts.ts'

interface LivePlaceOptions {
  readonly clock?: Clock
  readonly changes?: Changes
  readonly root?: string
}

/** A workspace whose questions wait for clients. */
export async function livePlace({ clock, changes = {}, root }: LivePlaceOptions = {}): Promise<
  HarnessPlace & { readonly root: string }
> {
  const place = await harnessPlace(withChanges(WAITING, changes), root)
  if (clock === undefined) return place
  const parts = withClock(place.parts, clock)
  return { ...place, parts, harness: new Harness(parts) }
}
