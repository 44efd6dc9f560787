import type { Duplex } from 'node:stream'
import type { Clock } from '../../host/clock.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { GuestStart, LineToGuest } from '../../model/tether/guest-line.ts'
import type { OpenWorkspace } from '../../session/workspace/workspace.ts'
import { GuestFrames } from '../frames/guest-frames.ts'
import type { ReadLine } from '../frames/line-reader.ts'
import { LineWriter } from '../frames/line-writer.ts'
import { readLines } from '../frames/read-lines.ts'
import { InstanceSessions } from './instance-sessions.ts'
import { Messages } from './messages.ts'

/** What a guest needs of its workspace. */
export type GuestWorkspace = Pick<OpenWorkspace, 'harness' | 'ids' | 'close'>

export interface GuestParts {
  /** The descriptor to the server. Destroyed at the end. */
  readonly socket: Duplex
  /** Opens the workspace that the first line names. */
  readonly open: (start: GuestStart) => Promise<Result<GuestWorkspace>>
  readonly clock: Clock
  /** Called with the milliseconds of a pause that has just ended. */
  readonly onResume: (pausedMs: number) => void
  /** Aborted when the guest must end. */
  readonly signal: AbortSignal
  readonly onDefect: (error: unknown) => void
}

/**
 * Serves an Instance until the server closes the connection or `signal` aborts. Then running Turns are interrupted, and their
 * messages end; without the server, those that have no answer are left to the next guest. Fails if the first line is not a
 * `guest.start`, the workspace cannot be opened, or a later line is not valid.
 */
export async function serveGuest(parts: GuestParts): Promise<Result<void>> {
  const lines = readLines(parts.socket)
  try {
    const start = await startIn(lines)
    if (!start.ok) return start
    const workspace = await parts.open(start.value)
    if (!workspace.ok) return workspace
    return await serve(parts, { start: start.value, lines }, workspace.value)
  } finally {
    parts.socket.destroy()
  }
}

interface GuestOpening {
  readonly start: GuestStart
  readonly lines: AsyncGenerator<ReadLine, void>
}

async function serve(
  { socket, clock, onResume, signal, onDefect }: GuestParts,
  { start, lines }: GuestOpening,
  workspace: GuestWorkspace,
): Promise<Result<void>> {
  const { harness, ids } = workspace
  const writer = new LineWriter(socket)
  const frames = new GuestFrames(clock, ids)
  const send = async (frame: object) => {
    writer.write(frame)
    await writer.room()
  }
  const sessions = new InstanceSessions(harness, start)
  const messages = new Messages({ start, harness, sessions, frames, send, clock, onDefect })
  const take = (line: LineToGuest) => {
    switch (line.type) {
      case 'guest.resumed':
        return onResume(line.paused_ms)
      case 'guest.resend':
        return messages.noteResend(line)
      case 'user.message':
        return messages.receive(line)
      case 'control.cancel':
        return messages.cancel(line)
      case 'control.ping':
        return void send(frames.pong({ to: line }))
      default:
        return line satisfies never
    }
  }
  writer.write({ type: 'guest.ready' })
  const ended = await Promise.race([takeAll(lines, take), aborted(signal)])
  messages.close()
  // Without a server the end of a message reaches no reader: the next guest continues with those that have no answer yet.
  await harness.close({ leaves: ended.ok && !signal.aborted })
  await messages.ended()
  await workspace.close()
  await writer.end()
  return ended
}

async function startIn(lines: AsyncGenerator<ReadLine, void>): Promise<Result<GuestStart>> {
  const first = await lines.next()
  if (first.done === true) return failed('interrupted', 'The server closed the connection.')
  const start = 'value' in first.value ? GuestStart.safeParse(first.value.value) : undefined
  return start?.success === true ? ok(start.data) : badLine()
}

async function takeAll(
  lines: AsyncGenerator<ReadLine, void>,
  take: (line: LineToGuest) => void,
): Promise<Result<void>> {
  for await (const read of lines) {
    const line = 'value' in read ? LineToGuest.safeParse(read.value) : undefined
    if (line?.success !== true) return badLine()
    take(line.data)
  }
  return ok(undefined)
}

function aborted(signal: AbortSignal): Promise<Result<void>> {
  return new Promise((resolve) => {
    const end = () => resolve(ok(undefined))
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}

/** The content is not repeated: it may be anything. */
function badLine(): Failed {
  return failed('invalid_args', 'The server sent a line that a guest does not accept.')
}
