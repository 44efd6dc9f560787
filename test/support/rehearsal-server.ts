import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/host/clock.ts'
import { rehearsalBrain } from '../../src/providers/rehearsal/rehearsal-brain.ts'
import { rememberedSights } from '../../src/providers/rehearsal/wire/media-check.ts'
import type { VendorDialect } from '../../src/providers/rehearsal/wire/rules/request-schemas.ts'
import {
  rehearsalServer,
  type Heard,
  type RehearsalServerOptions,
} from '../../src/providers/rehearsal/wire/serve.ts'
import { describe } from '../../src/resources/describe.ts'

/** The rehearsal model as a vendor on this machine. */
export interface RehearsalVendor {
  readonly origin: string
  /** What the vendor's SDK takes as its `baseURL`; with switches, as in `cut:300,once`, that hold for all requests to it. */
  baseUrl(dialect: VendorDialect, switches?: string): string
  /** Every request, in the order in which they were answered. */
  readonly requests: readonly HeardRequest[]
  /** Requests without switches that were refused. */
  readonly violations: readonly string[]
  /** Ends every connection. Rejects when there are violations that no call before this one rejected with. */
  close(): Promise<void>
}

export interface HeardRequest extends Heard {
  /** `undefined` when the bytes are no JSON. */
  readonly body: unknown
}

/** Starts the server; it ends with the test. */
export async function openRehearsal(
  options: Partial<RehearsalServerOptions> = {},
): Promise<RehearsalVendor> {
  const requests: HeardRequest[] = []
  const violations: string[] = []
  const sights = rememberedSights(describe)
  const started = await rehearsalServer({
    brain: rehearsalBrain(sights),
    describe: sights,
    clock: systemClock,
    ...options,
    heard: (heard) => {
      requests.push({ ...heard, body: parsed(heard.bytes) })
      const { method, path, refusal } = heard
      if (refusal !== undefined && !path.startsWith('/~')) {
        violations.push(`${method} ${path}: ${refusal.at?.join('.') ?? ''} ${refusal.message}`)
      }
      options.heard?.(heard)
    },
  })
  if (!started.ok) throw new Error(started.error.message)
  const { origin } = started.value
  onTestFinished(() => started.value.close())
  let told = 0
  return {
    origin,
    requests,
    violations,
    baseUrl: (dialect, switches) => {
      const place = switches === undefined ? origin : `${origin}/~${switches}`
      return dialect === 'messages' ? place : `${place}/v1`
    },
    close: async () => {
      await started.value.close()
      const untold = violations.slice(told)
      told = violations.length
      if (untold.length > 0) throw new Error(`refused requests:\n${untold.join('\n')}`)
    },
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
