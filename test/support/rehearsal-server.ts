import { onTestFinished } from 'vitest'
import type { VendorDialect } from '../../src/providers/rehearsal/wire/rules/request-schemas.ts'
import type {
  RequestReport,
  RehearsalServerOptions,
} from '../../src/providers/rehearsal/wire/serve.ts'
import { value } from './story.ts'
import { strictServer, STRICT_SWITCH } from './strict-server.ts'

/** The rehearsal model as a vendor on this machine. */
export interface RehearsalVendor {
  /** Reads strictly. */
  readonly origin: string
  /** Reads as the vendors do, in a test that was opened as `lenient`. */
  readonly lenientOrigin: string
  /** What the vendor's SDK takes as its `baseURL`; with switches, as in `cut:300,once`, that hold for all requests to it. */
  baseUrl(dialect: VendorDialect, switches?: string): string
  /** Every request, in the order in which they were answered. */
  readonly requests: readonly RecordedRequest[]
  /** Requests without faults that were refused. */
  readonly violations: readonly string[]
  /** Ends every connection. Rejects when there are violations that no call before this one rejected with. */
  close(): Promise<void>
}

export interface RecordedRequest extends RequestReport {
  /** `undefined` when the bytes are no JSON. */
  readonly body: unknown
}

export interface VendorOptions extends Partial<RehearsalServerOptions> {
  /** Whether requests of other clients may come. Without it, a request that is not read strictly fails the test. */
  readonly lenient?: boolean
}

/** Starts the server; it ends with the test. */
export async function openRehearsal(options: VendorOptions = {}): Promise<RehearsalVendor> {
  const { lenient = false, ...given } = options
  const requests: RecordedRequest[] = []
  const violations: string[] = []
  const opened = await strictServer({
    ...given,
    heard: (request) => {
      requests.push({ ...request, body: parsed(request.bytes) })
      const { method, path, refusal } = request
      const rest = path.replace(STRICT_SWITCH, '')
      if (refusal !== undefined && !rest.startsWith('/~')) {
        violations.push(`${method} ${path}: ${refusal.at?.join('.') ?? ''} ${refusal.message}`)
      }
      options.heard?.(request)
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
