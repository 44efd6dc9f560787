import type { Duplex } from 'node:stream'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { elapsedMs, systemClock, type Clock } from '../clock.ts'
import { asHostResult } from '../files/files.ts'
import { inOrder } from '../in-order.ts'
import { wait } from '../wait.ts'
import { endWithThisProcess } from './end-with-this-process.ts'
import { groupLives, killKin, listKin, signal, untilGone, type ListedProcess } from './kin.ts'
import { openOutputPipe, type OutputPipe } from './output-pipe.ts'
import { startProgram, type StartedProgram, type StartOrder } from './start.ts'
import { areStopped, continueKin, stopKin, type KinPause } from './stop-kin.ts'

/** A program to start without waiting for its end. It gets only what is listed here, like a `Program`. */
export interface LongOrder extends StartOrder {
  /** How many processes that are not the program itself are above it, each the only child of the one before. */
  readonly wrappers: number
  /** Receives stdout and stderr in the order they were written. Must not throw. */
  onOutput(chunk: Buffer): void
}

export interface LongExit {
  readonly code: number | null
  readonly signal: string | null
  /** Ended by `stop`. */
  readonly wasStopped: boolean
  readonly complaint: string
}

/** A program that runs until it ends by itself or is stopped. It never outlives this process, unless that is killed. */
export interface RunningProgram {
  readonly pid: number
  /** Our ends of its sockets. An error of one only ends it, unless a listener is added. */
  readonly sockets: readonly Duplex[]
  /** Resolves when its output was delivered and nothing of it runs any more. Never rejects. */
  readonly exit: Promise<LongExit>
  /**
   * Stops it with all its descendants; resolves when none of them runs. Does nothing if it is paused. Fails with `not_found`
   * when it has ended, `timeout` when it starts processes faster than they can be stopped (then all continue), and
   * `unreadable` without /proc.
   */
  pause(): Promise<Result<void>>
  /**
   * Continues what `pause` stopped and returns the milliseconds it was paused; 0 if it was not. `first` is called with them
   * before anything continues. Fails with `not_found` when it has ended.
   */
  resume(first?: (pausedMs: number) => void): Promise<Result<number>>
  /**
   * Asks the program to end (SIGTERM) and kills it with all its descendants after `graceMs`. A paused one is killed at
   * once. Resolves when nothing is left. May be called more than once.
   */
  stop(graceMs?: number): Promise<void>
}

/** How long a program has to end by itself. */
const GRACE_MS = 2_000
/**
 * While it is paused, a process can have itself continued, for example by a timer whose signal is SIGCONT. What runs is
 * stopped again this often.
 */
const LOOK_AGAIN_MS = 5_000

/** Starts a program in its own session and process group. A failure means that it could not be started. */
export async function startLong(
  order: LongOrder,
  clock: Clock = systemClock,
): Promise<Result<RunningProgram>> {
  const output = await openOutputPipe(clock)
  const started = await asHostResult(`start ${order.argv[0]}`, async () =>
    ok(await startProgram(order, output.writer)),
  )
  if (!started.ok) {
    output.close()
    return started
  }
  output.closeWriter()
  return ok(running(started.value, output, order, clock))
}

function running(
  child: StartedProgram,
  output: OutputPipe,
  order: LongOrder,
  clock: Clock,
): RunningProgram {
  const { pid, sockets } = child
  const leave = endWithThisProcess(pid)
  let paused: { readonly since: number; readonly kin: KinPause } | undefined
  let wasStopped = false
  let over = false
  let killed: readonly ListedProcess[] = []
  let cancelLook: (() => void) | undefined

  // Pausing and resuming never overlap.
  const next = inOrder()
  const ended = new Promise<Omit<LongExit, 'complaint'>>((resolve) => {
    child.process.once('exit', (code, exitSignal) => {
      over = true
      cancelLook?.()
      // Immediately: the pid of the leader is not reused while its group exists.
      if (groupLives(pid)) killed = [...killed, ...killKin(pid)]
      leave()
      resolve({ code, signal: exitSignal, wasStopped })
    })
  })
  const delivered = output.deliver((chunk) => order.onOutput(chunk))
  const exited = finish(ended, () => killed, delivered, output, child, clock)

  const lookAgain = () => {
    cancelLook = clock.after(LOOK_AGAIN_MS, () => {
      void next(async () => {
        if (over || paused === undefined) return
        if (!areStopped(paused.kin)) await stopKin(pid, paused.kin, clock)
        lookAgain()
      })
    })
  }
  const pause = async (): Promise<Result<void>> => {
    if (over) return hasEnded()
    if (paused !== undefined) return ok(undefined)
    const since = clock.monotonicMs()
    const kin: KinPause = { signalledKeys: new Set() }
    const outcome = await stopKin(pid, kin, clock)
    if (over) return hasEnded()
    if (outcome !== 'stopped') {
      continueKin(pid, kin)
      return outcome === 'gone' ? notListed() : outrun()
    }
    paused = { since, kin }
    lookAgain()
    return ok(undefined)
  }
  const resume: RunningProgram['resume'] = async (first) => {
    if (over) return hasEnded()
    if (paused === undefined) return ok(0)
    cancelLook?.()
    const { since, kin } = paused
    const pausedMs = elapsedMs(clock, since)
    first?.(pausedMs)
    paused = undefined
    continueKin(pid, kin)
    return ok(pausedMs)
  }
  const kill = () => {
    if (!over) killed = [...killed, ...killKin(pid)]
  }
  const stop: RunningProgram['stop'] = async (graceMs = GRACE_MS) => {
    if (!over) {
      wasStopped = true
      if (paused === undefined && graceMs > 0) {
        signal(programBelow(pid, order.wrappers), 'SIGTERM')
        const grace = new AbortController()
        void ended.then(() => grace.abort())
        await wait(clock, graceMs, grace.signal)
      }
      kill()
    }
    await exited
  }
  return {
    pid,
    sockets,
    exit: exited,
    pause: () => next(pause),
    resume: (first) => next(() => resume(first)),
    stop,
  }
}

async function finish(
  ended: Promise<Omit<LongExit, 'complaint'>>,
  killed: () => readonly ListedProcess[],
  delivered: Promise<void>,
  output: OutputPipe,
  child: StartedProgram,
  clock: Clock,
): Promise<LongExit> {
  const exit = await ended
  await Promise.all([untilGone(killed(), clock), child.gate.shut(clock)])
  output.abandon()
  await delivered.catch(() => {})
  output.close()
  return { ...exit, complaint: await child.complaint(clock) }
}

/** The program itself: the oldest child, once for each wrapper. The wrapper if it has no child yet. */
function programBelow(leader: number, wrappers: number): number {
  const kin = listKin(leader)
  let program = leader
  for (let depth = 0; depth < wrappers; depth++) {
    const [oldest] = kin
      .filter(({ parent }) => parent === program)
      .toSorted((a, b) => Number(a.since) - Number(b.since) || a.pid - b.pid)
    if (oldest === undefined) return program
    program = oldest.pid
  }
  return program
}

function hasEnded(): Failed {
  return failed('not_found', 'The process has ended.')
}

function outrun(): Failed {
  return failed(
    'timeout',
    'The process could not be paused: it starts processes faster than they can be stopped.',
    {},
    [{ action: 'Stop it.' }],
  )
}

function notListed(): Failed {
  return failed('unreadable', 'The process could not be paused: /proc does not list processes.')
}
