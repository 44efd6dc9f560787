import process from 'node:process'
import { ok, type Result } from '../../model/errors.ts'
import { systemClock, type Clock } from '../clock.ts'
import { asHostResult } from '../files/files.ts'
import { openOutputPipe, type OutputPipe } from './output-pipe.ts'
import { groupLives, killKin, untilGone, type ListedProcess } from './kin.ts'
import { startProgram, type StartOrder, type Started } from './start.ts'

/** A program to run. Nothing reaches it but what is said here: no variable, no descriptor, no terminal. */
export interface Program extends StartOrder {
  readonly argv: readonly [string, ...string[]]
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  /** What it can read; nothing when absent. That it reads only a part is no failure. */
  readonly stdin?: Uint8Array
  /** Wall-clock time after which it is killed, by a clock that never jumps. */
  readonly wallMs: number
  readonly signal: AbortSignal
  /** `apart`: its first words on stderr are told at the end, as `complaint`, and are no output. */
  readonly errors: 'merged' | 'apart'
  /** Told the number of its process as soon as it has one. */
  onStart?(pid: number): void
  /** Gets stdout and stderr in the order they were written, one chunk at a time; the program waits for its promise. */
  onOutput(chunk: Buffer): void | Promise<void>
}

/** How it ended. `timedOut` and `interrupted` exclude each other: the first reason counts. */
export interface ProcessEnding {
  readonly code: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly interrupted: boolean
  readonly durationMs: number
  readonly complaint: string
}

/**
 * Runs a program in a session and process group of its own, to its end. When this resolves, its output was delivered and
 * nothing of it runs any more: what it left in its group is killed, and at the limit or on abort all that descends from it.
 * (A process that made itself another session and outlived its parent is in no group to be found by; where that matters, a
 * sandbox ends it.) A failure is a program that could not be started. Throws what `onOutput` throws, with the program dead.
 */
export async function runProgram(
  program: Program,
  clock: Clock = systemClock,
): Promise<Result<ProcessEnding>> {
  if (program.signal.aborted) return ok(NEVER_STARTED)
  const begun = await asHostResult(`start ${program.argv[0]}`, () => begin(program, clock))
  if (!begun.ok) return begun
  const { child, output } = begun.value
  const watch = watchOver(child, program, clock)
  try {
    let thrown: { readonly error: unknown } | undefined
    const delivered = output
      .deliver((chunk) => program.onOutput(chunk))
      .catch((error: unknown) => {
        thrown = { error }
        watch.stop('failed')
      })
    const exit = await watch.exited
    await untilGone(exit.left, clock)
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
  interrupted: true,
  durationMs: 0,
  complaint: '',
}

/** A timer takes no more. */
const LONGEST_MS = 2 ** 31 - 1

async function begin(
  program: Program,
  clock: Clock,
): Promise<Result<{ readonly child: Started; readonly output: OutputPipe }>> {
  const output = await openOutputPipe(clock)
  try {
    const child = await startProgram(program, output.writer)
    endWithThisProcess(child.pid)
    program.onStart?.(child.pid)
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
  /** Killed, and perhaps not gone yet. */
  readonly left: readonly ListedProcess[]
}

interface Watch {
  readonly exited: Promise<Exit>
  stop(why: Reason): void
  forget(): void
}

/** Kills the program for the first reason that comes, and tells of its exit. */
function watchOver(child: Started, { wallMs, signal }: Program, clock: Clock): Watch {
  let why: Reason | undefined
  let over = false
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
    living.delete(child.pid)
  }
  const exited = new Promise<Exit>((resolve) => {
    child.process.once('exit', (code, exitSignal) => {
      // At once: as long as its group lives, the number of the leader is not given to another process.
      const stayed = groupLives(child.pid) ? killKin(child.pid) : []
      forget()
      const durationMs = Math.round(performance.now() - child.since)
      resolve({ code, signal: exitSignal, why, durationMs, left: [...killed, ...stayed] })
    })
  })
  signal.addEventListener('abort', interrupt, { once: true })
  if (signal.aborted) interrupt()
  return { exited, stop, forget }
}

function endingOf({ code, signal, why, durationMs }: Exit, complaint: string): ProcessEnding {
  const timedOut = why === 'timedOut'
  return { code, signal, timedOut, interrupted: why === 'interrupted', durationMs, complaint }
}

const living = new Set<number>()
let watchingExit = false

/** A program does not outlive the one that waits for it, as far as that one has time to see to it. */
function endWithThisProcess(pid: number): void {
  living.add(pid)
  if (watchingExit) return
  watchingExit = true
  process.on('exit', () => {
    for (const one of living) killKin(one)
  })
}
