import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'
import type { Clock } from '../clock.ts'
import { isZombie } from './kin.ts'

/**
 * A socket at which the wrappers of a program wait before they start it. A process asks for a signal at the death of its parent,
 * but gets none if the parent died before that. So the last wrapper reports that all have asked, and continues only if this
 * process then still runs and sees the first of them run.
 */
export interface Gate {
  /** Call it when the first wrapper has ended. Resolves when nothing waits at the gate, or after a time limit. */
  shut(clock: Clock): Promise<void>
}

/** A step of a shell script: passes the gate at a descriptor and closes it. */
export function passGate(descriptor: number): string {
  return `{ echo up >&${descriptor} && read -r _ <&${descriptor}; } 2>/dev/null || exit 1; exec ${descriptor}>&-`
}

/** The same, with the arguments of a program in the line that opens the gate; see `gateLine`. */
export function passGateWithArguments(descriptor: number): string {
  const pass = `{ echo up >&${descriptor} && IFS= read -r hawser_arguments <&${descriptor}; } 2>/dev/null || exit 1; exec ${descriptor}>&-`
  // The line contains no newline, so the script provides one.
  return `hawser_line='\n'\n${pass}\neval "set -- $hawser_arguments"\nunset hawser_arguments hawser_line`
}

/** The arguments of a program as a line for `passGateWithArguments`. They must not contain NUL. Pure. */
export function gateLine(argv: readonly string[]): string {
  return argv.map((text) => text.split('\n').map(shellWord).join('"$hawser_line"')).join(' ')
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

export const NO_GATE: Gate = { shut: async () => {} }

/** What is killed in the kernel is not waited for longer. */
const MOST_MS = 5_000

/** A gate that opens when its keeper says so. */
export interface HeldGate extends Gate {
  /** Whether the last wrapper waits at the gate now; false if it never will. Never rejects. */
  readonly waiting: Promise<boolean>
  /**
   * Lets the program start if `admit` agrees and all wrappers run, and passes it a line. Call it once, when the program waits.
   * Returns whether it may start.
   */
  open(line: string, admit: (leader: number) => boolean): boolean
}

/** The program starts as soon as it waits, if `admit` agrees. */
export function keepGate(
  wrapper: ChildProcess,
  socket: Duplex,
  admit: (leader: number) => boolean = () => true,
): Gate {
  const gate = holdGate(wrapper, socket)
  void gate.waiting.then((waits) => waits && gate.open('go', admit))
  return gate
}

export function holdGate(wrapper: ChildProcess, socket: Duplex): HeldGate {
  const closed = new Promise<void>((resolve) => void socket.once('close', resolve))
  const waiting = new Promise<boolean>((resolve) => {
    socket.once('data', () => resolve(true))
    socket.once('close', () => resolve(false))
  })
  socket.on('error', () => {})
  // It ends when no process has the other end any more.
  socket.once('end', () => void socket.end())
  return {
    waiting,
    open: (line, admit) => {
      const { pid } = wrapper
      const isAdmitted = runs(wrapper) && pid !== undefined && admit(pid)
      if (isAdmitted) socket.write(`${line}\n`)
      socket.end()
      return isAdmitted
    },
    shut: async (clock) => {
      socket.end()
      const cancel = clock.after(MOST_MS, () => void socket.destroy())
      await closed
      cancel()
    },
  }
}

function runs({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null && pid !== undefined && !isZombie(pid)
}
