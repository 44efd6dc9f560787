import type { Duplex } from 'node:stream'
import { shorten } from '../../encoding/quote.ts'
import type { Clock } from '../../host/clock.ts'
import type { LongProcess } from '../../host/sandbox/sandbox.ts'
import { Allowance } from '../../host/net/allowance.ts'
import { wait } from '../../host/wait.ts'
import { failed, ok, type Failed, type HawserError, type Result } from '../../model/errors.ts'
import { LineToHost, type GuestResend, type GuestStart } from '../../model/tether/guest-line.ts'
import type { FrameToGuest, FrameToHost } from '../../model/tether/frame.ts'
import { noImages, unfitFrame } from '../frames/frame-check.ts'
import { isTerminal } from '../frames/guest-frames.ts'
import type { LineFault } from '../frames/line-reader.ts'
import { readLines } from '../frames/read-lines.ts'
import { cleanFrame } from './clean-frame.ts'
import { GuestLines } from './guest-lines.ts'
import type { GuestLogs } from './guest-logs.ts'
import type { MessageBook } from './message-book.ts'

export interface GuestHostParts {
  readonly start: Omit<GuestStart, 'type'>
  /** Starts the program; see `launchGuest`. */
  readonly launch: () => Promise<Result<LongProcess>>
  /** Serves the guest's calls to a model on this socket, until it is closed. */
  readonly relay: (socket: Duplex) => { close(): void | Promise<void> }
  readonly logs: Pick<GuestLogs, 'verify' | 'follow'>
  readonly book: MessageBook
  readonly clock: Clock
  /** What the guest gets of a frame: it may have been stored when a key was not known. */
  readonly redact?: (frame: FrameToGuest) => FrameToGuest
  /**
   * Receives each valid frame once, in order, without a `seq`. The next one is read when it resolves. A message ends only after
   * its Log was checked.
   */
  readonly onFrame: (frame: FrameToHost) => void | Promise<void>
  /** For the log of the server: never contains texts of messages. */
  readonly note: (entry: Readonly<Record<string, unknown>>) => void
  /** How long a guest may take to be ready. */
  readonly readyMs?: number
}

/** How a guest ended. */
export interface GuestEnding {
  /** Why it was stopped, or that it ended by itself; absent if `stop` was called. */
  readonly reason?: HawserError
  readonly code: number | null
  readonly signal: string | null
  /** It was stopped because a program outside replaced protected files, which only the sandbox of a new guest protects again. */
  readonly restart?: true
}

const READY_MS = 30_000
/** Frames that are read at once, and per second in the long run. A guest that sends more has to wait. */
const FRAMES_AT_ONCE = 5_000
const FRAMES_PER_SECOND = 1_000
const FRAME_WAIT_MS = 50
const GRACE_MS = 5_000
/** How long the last frames of a guest may take after its end. */
const LAST_FRAMES_MS = 2_000

/** Dropped frames that are noted one by one. All are counted. */
const NOTED_DROPS = 20

type Parts = GuestHostParts

/**
 * The server's side of one running guest. It trusts nothing that the guest sends or writes: a line that is not valid, a forged
 * frame or a changed Log stops the guest with a reason, and nothing of it is used.
 */
export class GuestHost {
  readonly #parts: Parts
  readonly #process: LongProcess
  readonly #lines: GuestLines
  readonly #allowance: Allowance
  readonly #relay: ReturnType<Parts['relay']>
  #reason: HawserError | undefined
  #isStopping = false
  #isGone = false
  #droppedFrames = 0
  #mustRestart = false
  #ready = () => {}
  /** Resolves when nothing of the guest is left. Never rejects. */
  readonly ended: Promise<GuestEnding>

  private constructor(parts: Parts, process: LongProcess) {
    this.#parts = parts
    this.#process = process
    const socket = process.descriptor('frames')
    const onStuck = () => this.#fail(stuckGuest())
    this.#lines = new GuestLines({ socket, clock: parts.clock, onStuck })
    this.#allowance = new Allowance(FRAMES_AT_ONCE, FRAMES_PER_SECOND, parts.clock)
    this.#relay = parts.relay(process.descriptor('relay'))
    this.ended = this.#serve(socket)
  }

  /**
   * Starts a guest, waits until it is ready, and delivers every message that has not ended. Fails without a guest if a Log was
   * changed since the last check, the program cannot be started, or it is not ready in time (`wake_failed`).
   */
  static async start(parts: Parts): Promise<Result<GuestHost>> {
    const intact = await parts.logs.verify()
    if (!intact.ok) return intact
    const process = await parts.launch()
    if (!process.ok) return process
    const host = new GuestHost(parts, process.value)
    const ready = await host.#begin()
    return ready.ok ? ok(host) : ready
  }

  get pid(): number {
    return this.#process.pid
  }

  /** Sends a frame to the guest. A message stays in `book` until it ends; a repeated one is not sent again. */
  send(frame: FrameToGuest): Result<void> {
    const unfit = this.#unfit(frame)
    if (unfit !== undefined) return unfit
    if (this.#isOver) return over()
    if (!this.#parts.book.add(frame)) return ok(undefined)
    return this.#write(frame)
  }

  /**
   * Stops it and everything it started until `resume`. What is sent meanwhile waits. If it starts processes faster than they can
   * be stopped (`timeout`), the guest is ended.
   */
  async pause(): Promise<Result<void>> {
    this.#lines.hold()
    const paused = await this.#process.pause()
    if (!paused.ok && paused.error.kind === 'timeout') this.#fail(paused)
    if (!paused.ok) this.#lines.release()
    return paused
  }

  /** Continues it, and first reports to it how long it was paused. Returns those milliseconds. */
  async resume(): Promise<Result<number>> {
    const resumed = await this.#process.resume((ms) => {
      this.#lines.writeFirst({ type: 'guest.resumed', paused_ms: Math.round(ms) })
    })
    if (resumed.ok) this.#lines.release()
    return resumed
  }

  /** Ends the guest: running messages end as interrupted. */
  async stop(graceMs = GRACE_MS): Promise<GuestEnding> {
    this.#isStopping = true
    await this.#process.stop(graceMs)
    return this.ended
  }

  get #isOver(): boolean {
    return this.#isStopping || this.#isGone || this.#reason !== undefined
  }

  async #begin(): Promise<Result<void>> {
    const { start, clock, readyMs = READY_MS } = this.#parts
    const ready = new Promise<void>((resolve) => {
      this.#ready = resolve
    })
    this.#lines.write({ type: 'guest.start', ...start })
    const cancel = clock.after(readyMs, () => this.#fail(notReady(readyMs)))
    const first = await Promise.race([ready.then(() => this.#redeliver()), this.ended])
    cancel()
    if (first === 'delivered') return ok(undefined)
    const { reason } = await this.ended
    return { ok: false, error: reason ?? over().error }
  }

  /** As fast as the guest reads: together, these messages may be larger than what may wait for it. */
  async #redeliver(): Promise<'delivered' | 'failed'> {
    const { book } = this.#parts
    book.forgetPings()
    for (const frame of book.deliveries) {
      if (frame.type === 'user.message' && !book.isShown(frame)) this.#vouch(frame)
      if (!this.#write(frame).ok) return 'failed'
      await this.#lines.room()
    }
    return this.#isOver ? 'failed' : 'delivered'
  }

  #unfit(frame: FrameToGuest): Failed | undefined {
    const unfit = unfitFrame(frame)
    if (unfit !== undefined) return unfit
    const { images = [] } = frame.type === 'user.message' ? frame.payload : {}
    return images.length === 0 || this.#parts.start.images ? undefined : noImages()
  }

  /** The message that follows may have a Turn: it may continue. */
  #vouch(frame: FrameToGuest): void {
    const { session, msg_id } = this.#safe(frame)
    this.#lines.write({ type: 'guest.resend', session, msg_id } satisfies GuestResend)
  }

  #safe(frame: FrameToGuest): FrameToGuest {
    return this.#parts.redact?.(frame) ?? frame
  }

  #write(frame: FrameToGuest): Result<void> {
    this.#lines.write(this.#safe(frame))
    return this.#reason?.kind === 'backpressure' ? stuckGuest() : ok(undefined)
  }

  async #serve(socket: Duplex): Promise<GuestEnding> {
    const reading = this.#read(socket).catch((error: unknown) => {
      this.#parts.note({ event: 'guest_defect', error: String(error) })
      this.#fail(failed('internal', 'A frame of the agent could not be processed.'))
    })
    const { code, signal, wasStopped, limitsMet, complaint } = await this.#process.ending
    this.#isGone = true
    this.#lines.close()
    // Frames that the guest sent before its end. A process that outlived its sandbox would hold the socket open; it ends with
    // the socket.
    const read = new AbortController()
    void reading.then(() => read.abort())
    await wait(this.#parts.clock, LAST_FRAMES_MS, read.signal)
    socket.destroy()
    await reading
    await this.#relay.close()
    if (!wasStopped && this.#reason === undefined) this.#reason = ended({ code, signal, complaint })
    this.#parts.note({
      event: 'guest_ended',
      code,
      signal,
      limits: limitsMet,
      why: this.#reason,
      ...(this.#droppedFrames === 0 ? {} : { dropped: this.#droppedFrames }),
    })
    return {
      code,
      signal,
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
      ...(this.#mustRestart && wasStopped ? { restart: true } : {}),
    }
  }

  async #read(socket: Duplex): Promise<void> {
    let isReady = false
    for await (const read of readLines(socket)) {
      // Its end of the socket fills up meanwhile, and nothing else in this process waits for it.
      if (!this.#allowance.take()) await wait(this.#parts.clock, FRAME_WAIT_MS)
      if (this.#reason !== undefined) return
      // Nothing of it is used any more, but until its socket is closed it may hold a Session.
      if (this.#isGone && !isReady) continue
      if ('fault' in read) return this.#fail(wrong(`a line that is ${FAULTS[read.fault]}`))
      const line = LineToHost.safeParse(read.value)
      if (!line.success) return this.#fail(wrong('a line that is not a frame of an agent'))
      const isFirst = line.data.type === 'guest.ready'
      if (isFirst === isReady)
        return this.#fail(wrong('frames before it was ready, or ready twice'))
      if (line.data.type === 'guest.ready') this.#ready()
      else if (!(await this.#take(line.data))) return
      isReady = true
    }
  }

  /** False if the guest is stopped because of the frame. */
  async #take(given: FrameToHost): Promise<boolean> {
    const { book, logs, note, onFrame } = this.#parts
    const frame = cleanFrame(given)
    if (frame === undefined) return this.#refuse('a text that is too long')
    const judged = book.judge(frame)
    if (judged.verdict === 'refuse')
      return this.#refuse(`a frame of type ${frame.type}: ${judged.why}`)
    if (judged.verdict === 'drop') {
      this.#droppedFrames += 1
      if (this.#droppedFrames <= NOTED_DROPS)
        note({ event: 'frame_dropped', type: frame.type, why: judged.why })
      return true
    }
    if (!isTerminal(frame)) {
      await onFrame(frame)
      return true
    }
    // Before the message ends: if its Log was changed, it is delivered again.
    const intact = await logs.follow(frame.session)
    if (!intact.ok) {
      this.#fail(intact)
      return false
    }
    book.end(frame)
    await onFrame(frame)
    await this.#inspect()
    return true
  }

  /** Protected files that appeared while the guest worked on a message were moved away. */
  async #inspect(): Promise<void> {
    const found = await this.#process.inspect()
    if (!found.ok) return this.#parts.note({ event: 'guest_not_inspected', why: found.error })
    const { appearedPaths: appeared, unprotectedPaths: unprotected, runsLater } = found.value
    if (appeared.length + unprotected.length + runsLater.length > 0)
      this.#parts.note({ event: 'guest_left', appeared, unprotected, runs_later: runsLater })
    this.#mustRestart ||= unprotected.length > 0
    // A message that has begun is not interrupted for it: this is asked again when it ends. Others run in the next guest.
    if (this.#mustRestart && !this.#parts.book.hasBegun && !this.#isOver) void this.stop()
  }

  #refuse(what: string): false {
    this.#fail(wrong(what))
    return false
  }

  /** The first reason counts. */
  #fail({ error }: Failed): void {
    if (this.#reason !== undefined) return
    this.#reason = error
    void this.#process.stop(0)
  }
}

const FAULTS: Readonly<Record<LineFault, string>> = {
  too_long: 'too long',
  not_utf8: 'not UTF-8',
  not_json: 'not JSON',
  too_deep: 'nested too deep',
  not_an_object: 'not a JSON object',
}

const COMPLAINT_BYTES = 1_000

function wrong(what: string): Failed {
  return failed('invalid_response', `The agent was stopped because it sent ${what}.`)
}

function stuckGuest(): Failed {
  return failed('backpressure', 'The agent does not read its messages.')
}

function notReady(ms: number): Failed {
  return failed('wake_failed', `The agent was not ready after ${ms / 1000} s.`, {}, [READ_OUTPUT])
}

function over(): Failed {
  const start = { action: 'Send it again when the agent has been started.' }
  return failed('wake_failed', 'The agent is not running.', {}, [start])
}

const READ_OUTPUT = {
  action: 'Read what the agent printed, in the log of the server, then send the message again.',
}

function ended({
  code,
  signal,
  complaint,
}: Pick<GuestEnding, 'code' | 'signal'> & { readonly complaint: string }): HawserError {
  const how = signal === null ? `with exit code ${code ?? 'unknown'}` : `by ${signal}`
  const why = complaint === '' ? '' : `: ${shorten(complaint.trim(), COMPLAINT_BYTES)}`
  const details = { code, signal }
  return failed('wake_failed', `The agent ended ${how}${why}`, details, [READ_OUTPUT]).error
}
