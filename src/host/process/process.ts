import { ok, type Result } from '../../model/errors.ts'
import { elapsedMs, systemClock, type Clock } from '../clock.ts'
import { asHostResult } from '../files/files.ts'
import { openOutputPipe, type OutputPipe } from './output-pipe.ts'
import { endWithThisProcess } from './end-with-this-process.ts'
import { groupLives, killKin, untilGone, type ListedProcess } from './kin.ts'
import { startHeld, startProgram, type StartOrder, type StartedProgram } from './start.ts'

/** A program to run. It gets only what is listed here: no other variable, descriptor or terminal. */
export interface Program extends StartOrder {
  readonly argv: readonly [string, ...string[]]
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** Its stdin; empty when absent. Reading only part of it is not a failure. */
  readonly stdin?: Uint8Array
  /** Time in milliseconds after which it is killed, measured by a monotonic clock. */
  readonly wallMs: number
  readonly signal: AbortSignal
  /** `apart`: the start of stderr is returned at the end as `complaint` and is not output. */
  readonly errors: 'merged' | 'apart'
  /** Called with the pid as soon as the program has started. */
  onStart?(pid: number): void
  /**
   * Receives stdout and stderr in the order they were written, one chunk at a time. The program blocks while a returned
   * promise is pending.
   */
  onOutput(chunk: Buffer): void | Promise<void>
}

/** How the program ended. At most one of `timedOut` and `wasInterrupted` is true: the first reason counts. */
export interface ProcessEnding {
  readonly code: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly wasInterrupted: boolean
  readonly durationMs: number
  readonly complaint: string
}

/**
 * Runs a program to completion in its own session and process group. When this resolves, its output was delivered and
 * nothing of it runs any more: what it left in its group is killed, and at the time limit or on abort all its descendants
 * are. (A process that created its own session and outlived its parent cannot be found; where that matters, a sandbox ends
 * it.) A failure means that the program could not be started. Throws what `onOutput` throws, after the program was killed.
 */
export async function runProgram(
  program: Program,
  clock: Clock = systemClock,
): Promise<Result<ProcessEnding>> {
  if (program.signal.aborted) return ok(NEVER_STARTED)
  const begun = await asHostResult(`start ${program.argv[0]}`, () =>
    begin(program, startProgram, clock),
  )
  if (!begun.ok) return begun
  program.onStart?.(begun.value.child.pid)
  return untilEnded(begun.value, program, clock)
}

/** What is known of a program when it runs, and may be unknown when it is started. */
export type RunOrder = Pick<Program, 'wallMs' | 'signal' | 'onStart' | 'onOutput'>

/** A program that was started and waits at its gate. It is run once, or discarded. */
export interface HeldProgram {
  readonly pid: number
  /** Whether it waits at the gate now; false if it never will. Never rejects. */
  readonly waiting: Promise<boolean>
  /**
   * Opens the gate with a line if `admit` agrees, and runs the program to completion; see `runProgram`. `undefined` if it may
   * not start or has ended: then discard it.
   */
  run(
    order: RunOrder,
    line: string,
    admit: (leader: number) => boolean,
  ): Promise<Result<ProcessEnding>> | undefined
  /** Kills it. Resolves when nothing of it is left. */
  discard(): Promise<void>
}

/** Starts a program that waits at its gate until it is run. A failure means that it could not be started. */
export async function holdProgram(
  order: StartOrder,
  clock: Clock = systemClock,
): Promise<Result<HeldProgram>> {
  const begun = await asHostResult(`start ${order.argv[0]}`, () => begin(order, startHeld, clock))
  if (!begun.ok) return begun
  const { child, output } = begun.value
  const { pid, gate } = child
  const leave = endWithThisProcess(pid)
  const exited = new Promise<void>((resolve) => void child.process.once('exit', () => resolve()))
  return ok({
    pid,
    waiting: Promise.race([gate.waiting, exited.then(() => false)]),
    run: (program, line, admit) => {
      if (!isRunning(child) || program.signal.aborted || !gate.open(line, admit)) return undefined
      leave()
      program.onStart?.(pid)
      return untilEnded(begun.value, program, clock)
    },
    discard: async () => {
      const kin = isRunning(child) ? killKin(pid) : []
      await exited
      leave()
      await Promise.all([untilGone(kin, clock), gate.shut(clock)])
      output.close()
    },
  })
}

/** Once it was reaped, its pid may belong to another process. */
function isRunning({ process: { exitCode, signalCode } }: StartedProgram): boolean {
  return exitCode === null && signalCode === null
}

async function untilEnded(
  { child, output }: ProgramStart<StartedProgram>,
  program: RunOrder,
  clock: Clock,
): Promise<Result<ProcessEnding>> {
  const watch = watchOver(child, program, clock)
  try {
    let thrown: { readonly error: unknown } | undefined
    const delivered = output
      .deliver((chunk) => program.onOutput(chunk))
      .catch((error: unknown) => {
        thrown = { error }
        watch.stop('failed')
      })
    const exit = await watch.exit
    await Promise.all([untilGone(exit.survivors, clock), child.gate.shut(clock)])
    output.abandon()
    await delivered
    if (thrown !== undefined) throw thrown.error
    return ok(endingOf(exit, await child.complaint(clock)))
  } finally {
    watch.forget()
    output.close()
  }
}

const NEVER_STARTED: ProcessEnding = {
  code: null,
  signal: null,
  timedOut: false,
  wasInterrupted: true,
  durationMs: 0,
  complaint: '',
}

/** The longest delay of a timer. */
const LONGEST_MS = 2 ** 31 - 1

interface ProgramStart<Started extends StartedProgram> {
  readonly child: Started
  readonly output: OutputPipe
}

async function begin<Started extends StartedProgram>(
  order: StartOrder,
  start: (order: StartOrder, writer: number) => Promise<Started>,
  clock: Clock,
): Promise<Result<ProgramStart<Started>>> {
  const output = await openOutputPipe(clock)
  try {
    const child = await start(order, output.writer)
    output.closeWriter()
    return ok({ child, output })
  } catch (error) {
    output.close()
    throw error
  }
}

type Reason = 'timedOut' | 'interrupted' | 'failed'

interface Exit {
  readonly code: number | null
  readonly signal: string | null
  readonly why: Reason | undefined
  readonly durationMs: number
  /** Killed, but perhaps not gone yet. */
  readonly survivors: readonly ListedProcess[]
}

interface Watch {
  readonly exit: Promise<Exit>
  stop(why: Reason): void
  forget(): void
}

/** Kills the program for the first reason that occurs, and reports its exit. */
function watchOver(child: StartedProgram, { wallMs, signal }: RunOrder, clock: Clock): Watch {
  let why: Reason | undefined
  let over = false
  const startedMs = clock.monotonicMs()
  const leave = endWithThisProcess(child.pid)
  let killed: readonly ListedProcess[] = []
  const stop = (reason: Reason) => {
    if (over || why !== undefined) return
    why = reason
    killed = killKin(child.pid)
  }
  const interrupt = () => stop('interrupted')
  const cancelLimit = wallMs > LONGEST_MS ? () => {} : clock.after(wallMs, () => stop('timedOut'))
  const forget = () => {
    over = true
    cancelLimit()
    signal.removeEventListener('abort', interrupt)
    leave()
  }
  const exited = new Promise<Exit>((resolve) => {
    child.process.once('exit', (code, exitSignal) => {
      // Immediately: the pid of the leader is not reused while its group exists.
      const stayed = groupLives(child.pid) ? killKin(child.pid) : []
      forget()
      const durationMs = elapsedMs(clock, startedMs)
      resolve({ code, signal: exitSignal, why, durationMs, survivors: [...killed, ...stayed] })
    })
  })
  signal.addEventListener('abort', interrupt, { once: true })
  if (signal.aborted) interrupt()
  return { exit: exited, stop, forget }
}

function endingOf({ code, signal, why, durationMs }: Exit, complaint: string): ProcessEnding {
  const timedOut = why === 'timedOut'
  return { code, signal, timedOut, wasInterrupted: why === 'interrupted', durationMs, complaint }
}
