import { ok, type Result } from '../../src/model/errors.ts'
import type { Describe } from '../../src/model/description.ts'
import { rehearsalBrain } from '../../src/providers/rehearsal/rehearsal-brain.ts'
import { SWITCHES } from './faults.ts'
import { rememberedDescriptions } from './media-check.ts'
import { rehearsalServer, type RehearsalServerOptions } from './serve.ts'

/** What hawser passes to this package. The two packages are bundled apart, so no class or symbol may be shared. */
export interface RehearseOptions extends Pick<
  RehearsalServerOptions,
  'port' | 'models' | 'clock' | 'seed' | 'onRequest'
> {
  /** Decodes pictures and documents, for the check of a request and for the model. */
  readonly describe: Describe
  /** How many requests per minute with one cache key can use the cache; default: all. */
  readonly cacheRate?: number | undefined
}

export interface Rehearsal {
  readonly origin: string
  /** The faults that can be injected into a request, such as `cut:BYTES`. */
  readonly switches: readonly string[]
  readonly close: () => Promise<void>
}

/** Serves the offline demo model over the vendors' APIs, on this machine only. The one function of this package. */
export async function serveRehearsal({
  describe,
  cacheRate,
  ...rest
}: RehearseOptions): Promise<Result<Rehearsal>> {
  const descriptions = rememberedDescriptions(describe)
  const server = await rehearsalServer({
    ...rest,
    brain: rehearsalBrain(descriptions),
    describe: descriptions,
    cache: { perMinute: cacheRate },
  })
  if (!server.ok) return server
  const { origin } = server.value
  return ok({ origin, switches: SWITCHES, close: () => server.value.close() })
}
