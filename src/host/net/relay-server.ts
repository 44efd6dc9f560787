import { performServerHandshake } from 'node:http2'
import type { Duplex } from 'node:stream'
import type { Clock } from '../clock.ts'
import { Allowance } from './allowance.ts'
import { StreamCall, type RelayedCall } from './relayed-call.ts'

export interface ServedCalls {
  /** Resolves when the connection is closed; with a reason if the guest broke a rule of the protocol. */
  readonly closed: Promise<string | undefined>
  close(): void
}

interface ServeOptions {
  readonly clock: Clock
  readonly take: (call: RelayedCall) => void
}

const KiB = 1024
const MiB = 1024 * KiB

/** All limits of the protocol, also those that Node has by default. A guest that exceeds one of them loses its connection. */
const LIMITS = {
  maxHeaderListPairs: 64,
  maxSendHeaderBlockLength: 64 * KiB,
  maxDeflateDynamicTableSize: 4 * KiB,
  maxOutstandingPings: 4,
  maxSettings: 16,
  /** In megabytes, of the session and its streams. */
  maxSessionMemory: 32,
  maxSessionInvalidFrames: 16,
  maxSessionRejectedStreams: 64,
  settings: {
    enablePush: false,
    enableConnectProtocol: false,
    headerTableSize: 4 * KiB,
    maxHeaderListSize: 8 * KiB,
    // More than may be served, so that a call too many gets an answer.
    maxConcurrentStreams: 64,
    initialWindowSize: MiB,
    maxFrameSize: 16 * KiB,
  },
}
/** For all bodies together. */
const CONNECTION_WINDOW = 8 * MiB

/** What a well-behaved guest does rarely: at once, and per second. */
const RARE = {
  resets: [100, 5],
  pings: [20, 1],
  settings: [10, 0.1],
} as const

const ENHANCE_YOUR_CALM = 11

/** Serves HTTP/2 on one socket. The guest behind it may send anything. */
export function serveCalls(socket: Duplex, { clock, take }: ServeOptions): ServedCalls {
  const session = performServerHandshake(socket, LIMITS)
  let reason: string | undefined
  const close = (why?: string) => {
    reason ??= why
    session.destroy(undefined, why === undefined ? undefined : ENHANCE_YOUR_CALM)
  }
  const rarely = (what: keyof typeof RARE) => {
    const [burst, perSecond] = RARE[what]
    const allowance = new Allowance(burst, perSecond, clock)
    return () => {
      if (!session.destroyed && !allowance.take()) close(`too many ${what}`)
    }
  }
  const countReset = rarely('resets')
  session.on('ping', rarely('pings'))
  session.on('remoteSettings', rarely('settings'))
  session.on('stream', (stream, headers) => {
    stream.once('aborted', countReset)
    take(new StreamCall(stream, headers))
  })
  session.on('error', (error: unknown) => {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    reason ??= typeof code === 'string' ? code : 'ERR_HTTP2_ERROR'
  })
  session.setLocalWindowSize(CONNECTION_WINDOW)
  const closed = new Promise<string | undefined>((resolve) => {
    session.once('close', () => resolve(reason))
  })
  return { closed, close: () => close() }
}
