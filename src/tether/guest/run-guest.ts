import type { Duplex } from 'node:stream'
import { countPauses, leaveOut, systemClock } from '../../host/clock.ts'
import { inheritedSockets } from '../../host/process/inherited-sockets.ts'
import { writePlain } from '../../host/plain-line.ts'
import { systemStreams } from '../../host/streams.ts'
import type { Result } from '../../model/errors.ts'
import type { GuestStart } from '../../model/tether/guest-line.ts'
import type { OpenWorkspace } from '../../session/workspace/workspace.ts'
import { serveGuest } from './serve-guest.ts'

/** The descriptors of a guest, in the order in which the server names them. */
const FRAMES = 4
const RELAY = 5

const USAGE = 2

/**
 * Runs this process as the guest of an Instance, and returns its exit code. `open` opens its workspace, with the socket of the
 * relay for calls to a model.
 */
export async function runGuest(
  open: (start: GuestStart, relay: Duplex) => Promise<Result<OpenWorkspace>>,
): Promise<number> {
  const sockets = inheritedSockets([FRAMES, RELAY])
  if (sockets === undefined) return refuseStart(USAGE, NOT_BY_HAND)
  const [socket, relay] = sockets
  countPauses()
  const stop = new AbortController()
  const forget = systemStreams().onSignal('SIGTERM', () => stop.abort())
  const served = await serveGuest({
    socket,
    open: (start) => open(start, relay),
    clock: systemClock,
    onResume: leaveOut,
    signal: stop.signal,
    onDefect: (error) => writePlain(2, `${String(error instanceof Error ? error.stack : error)}\n`),
  })
  forget()
  relay.destroy()
  return served.ok ? 0 : refuseStart(1, served.error.message)
}

const NOT_BY_HAND =
  'hawser guest cannot be started by hand: the server (hawser up) starts it for each instance.'

function refuseStart(code: number, message: string): number {
  writePlain(2, `hawser: ${message}\n`)
  return code
}
