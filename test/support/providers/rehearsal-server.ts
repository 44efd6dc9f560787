import { onTestFinished } from 'vitest'
import type { VendorDialect } from '../../../rehearse/src/rules/request-schemas.ts'
import type { RequestReport, RehearsalServerOptions } from '../../../rehearse/src/serve.ts'
import { value } from '../log/story.ts'
import { strictServer, STRICT_SWITCH } from './strict-server.ts'

/** The rehearsal model as a vendor's server on this machine, with a record of its requests. */
export interface RehearsalVendor {
  /** Requests to this origin are read strictly. */
  readonly origin: string
  /** Requests to this origin are read as leniently as the vendors do; only with the option `lenient`. */
  readonly lenientOrigin: string
  /** The `baseURL` for the vendor's SDK; switches such as `cut:300,once` apply to all requests to it. */
  baseUrl(dialect: VendorDialect, switches?: string): string
  /** All requests, in the order in which they were answered. */
  readonly requests: readonly ReceivedRequest[]
  /** Requests that were refused although no switch asked for it. */
  readonly violations: readonly string[]
  /** Closes every connection. Rejects if there are violations that no earlier call has reported. */
  close(): Promise<void>
}

export interface ReceivedRequest extends RequestReport {
  /** `undefined` if the bytes are not JSON. */
  readonly body: unknown
}

export interface VendorOptions extends Partial<RehearsalServerOptions> {
  /** Allows requests to the lenient origin. Without it, such a request fails the test. */
  readonly lenient?: boolean
}

/** Starts the server; it is closed at the end of the test. */
export async function openRehearsal(options: VendorOptions = {}): Promise<RehearsalVendor> {
  const { lenient = false, ...given } = options
  const requests: ReceivedRequest[] = []
  const violations: string[] = []
  const opened = await strictServer({
    ...given,
    onRequest: (received) => {
      requests.push({ ...received, body: parsed(received.bytes) })
      const { method, path, refusal } = received
      const rest = path.replace(STRICT_SWITCH, '')
      if (refusal !== undefined && !rest.startsWith('/~')) {
        violations.push(`${method} ${path}: ${refusal.at?.join('.') ?? ''} ${refusal.message}`)
      }
      options.onRequest?.(received)
    },
  })
  const started = value(opened)
  const { origin, lenientOrigin } = started
  onTestFinished(async () => {
    await started.close()
    const loose = requests.filter(({ path }) => !path.startsWith(STRICT_SWITCH))
    if (!lenient && loose.length > 0) {
      throw new Error(`not read strictly: ${loose.map(({ path }) => path).join(', ')}`)
    }
  })
  let reported = 0
  return {
    origin,
    lenientOrigin,
    requests,
    violations,
    baseUrl: (dialect, switches) => {
      const place = switches === undefined ? origin : `${origin}/~${switches}`
      return dialect === 'messages' ? place : `${place}/v1`
    },
    close: async () => {
      await started.close()
      const unreported = violations.slice(reported)
      reported = violations.length
      if (unreported.length > 0) throw new Error(`refused requests:\n${unreported.join('\n')}`)
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
