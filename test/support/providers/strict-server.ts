import { systemClock } from '../../../src/host/clock.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { ok, type Result } from '../../../src/model/errors.ts'
import { catalogue } from '../../../src/providers/models/catalogue.ts'
import { rehearsalBrain } from '../../../src/providers/rehearsal/rehearsal-brain.ts'
import { rememberedDescriptions } from '../../../rehearse/src/media-check.ts'
import { rehearsalServer, type RehearsalServerOptions } from '../../../rehearse/src/serve.ts'
import { describe } from '../../../src/resources/describe.ts'

export interface StrictServer {
  /** Requests to this origin are read strictly. */
  readonly origin: string
  /** The same server, which reads requests to this origin as leniently as the vendors do. */
  readonly lenientOrigin: string
  close(): Promise<void>
}

export const STRICT_SWITCH = '/~strict'

/** Starts the rehearsal server of every test, which refuses our requests if they contain anything unknown to the SDK types. */
export async function strictServer(
  options: Partial<RehearsalServerOptions> = {},
): Promise<Result<StrictServer>> {
  const descriptions = rememberedDescriptions(describe)
  const started = await rehearsalServer({
    brain: rehearsalBrain(descriptions),
    describe: descriptions,
    models: catalogue({}),
    clock: systemClock,
    seed: systemIds(options.clock ?? systemClock).event(),
    ...options,
  })
  if (!started.ok) return started
  const { origin } = started.value
  return ok({
    origin: origin + STRICT_SWITCH,
    lenientOrigin: origin,
    close: () => started.value.close(),
  })
}
