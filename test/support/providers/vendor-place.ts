import { onTestFinished } from 'vitest'
import { systemClock, type Clock } from '../../../src/host/clock.ts'
import type { ModelFacts } from '../../../src/model/model-facts.ts'
import { CANARY_KEY } from '../host/canary.ts'
import { withChanges, withClock, type Changes } from '../session/harness-parts.ts'
import { harnessPlace, type HarnessPlace } from '../session/harness-place.ts'
import { vendorParts } from './vendor-parts.ts'
import type { VendorServer } from './vendor-server.ts'

export interface VendorPlaceOptions {
  readonly retries?: number
  readonly facts?: ModelFacts
  /** The clock of the waits between retries; providers have its time of day. */
  readonly clock?: Clock
  readonly idleMs?: number
  readonly changes?: Changes
  readonly root?: string
}

/** A workspace whose vendors are a server on this machine; each provider has the name of its dialect. */
export async function vendorPlace(
  server: Pick<VendorServer, 'baseUrl' | 'close'>,
  options: VendorPlaceOptions = {},
): Promise<HarnessPlace & { readonly root: string }> {
  const { retries = 0, facts, clock, idleMs = 60_000, changes = {}, root } = options
  const baseUrl = server.baseUrl.bind(server)
  const common = { key: CANARY_KEY, baseUrl, retries, idleMs }
  const vendors = withChanges(
    vendorParts(clock === undefined ? common : { ...common, now: () => clock.now() }),
    {
      // Without a window, every Session would say that it is unknown.
      model: { factsOf: () => ({ window_tokens: 1_000_000, ...facts }) },
    },
  )
  const place = await harnessPlace(withChanges(vendors, changes), root)
  onTestFinished(() => server.close())
  if (clock === undefined) return place
  const parts = withClock(place.parts, clock)
  const { AskedHarness } = await import('../session/asked-harness.ts')
  return { ...place, parts, harness: new AskedHarness(parts) }
}

/** A clock that never waits, and records the requested waits. */
export function recordingClock(
  now = () => systemClock.now(),
): Clock & { readonly waits: number[] } {
  const waits: number[] = []
  return {
    waits,
    now,
    monotonicMs: () => systemClock.monotonicMs(),
    after: (ms, then) => {
      waits.push(ms)
      const soon = setImmediate(then)
      return () => clearImmediate(soon)
    },
  }
}
