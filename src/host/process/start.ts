import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { Duplex, type Readable, type Writable } from 'node:stream'
import type { Clock } from '../clock.ts'
import { holdGate, keepGate, NO_GATE, type Gate, type HeldGate } from './gate.ts'

/** What a started program needs; see `Program`. */
export interface StartOrder {
  readonly argv: readonly [string, ...string[]]
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: Uint8Array
  readonly errors: 'merged' | 'apart'
  /** Bytes the program can read from the descriptor `HANDED_FD`. */
  readonly handedBytes?: Uint8Array
  /** How many sockets the program gets, from the descriptor `FIRST_SOCKET` on. */
  readonly sockets?: number
  /** The program waits at a gate, at the descriptor after its sockets; see `gateAt`. */
  readonly atGate?: boolean
  /** Called while the program waits at its gate. It starts only if this returns true. Must not throw. */
  admit?(leader: number): boolean
}

/** The descriptor of `StartOrder.handed`. */
export const HANDED_FD = 3
const FIRST_SOCKET = 4

/** The descriptor of the gate of a program with this many sockets. */
export function gateAt(sockets: number): number {
  return FIRST_SOCKET + sockets
}

/** A running program that leads its own session and process group. */
export interface StartedProgram {
  readonly pid: number
  readonly process: ChildProcess
  /** Our ends of `StartOrder.sockets`. An error of one only ends it, unless a listener is added. */
  readonly sockets: readonly Duplex[]
  /** The content of stderr if it is separate. Does not wait for processes that still hold it. */
  complaint(clock: Clock): Promise<string>
  readonly gate: Gate
}

/** A program whose gate its starter opens. */
export interface HeldStart extends StartedProgram {
  readonly gate: HeldGate
}

/** Starts a program whose output goes to `writer`. Throws the system error if it cannot be started. */
export async function startProgram(order: StartOrder, writer: number): Promise<StartedProgram> {
  const { gateSocket, ...started } = await start(order, writer)
  const admit = (leader: number) => order.admit?.(leader) ?? true
  const gate = gateSocket === undefined ? NO_GATE : keepGate(started.process, gateSocket, admit)
  return { ...started, gate }
}

/** The same for a program `atGate`; `admit` is not called. */
export async function startHeld(order: StartOrder, writer: number): Promise<HeldStart> {
  const { gateSocket, ...started } = await start({ ...order, atGate: true }, writer)
  if (gateSocket === undefined) throw new Error('a started program has no gate')
  return { ...started, gate: holdGate(started.process, gateSocket) }
}

type GatelessStart = Omit<StartedProgram, 'gate'> & { readonly gateSocket: Duplex | undefined }

async function start(order: StartOrder, writer: number): Promise<GatelessStart> {
  const [file, ...args] = order.argv
  const nothing = openSync('/dev/null', 'r')
  try {
    const stdio = stdioOf(order, writer, nothing)
    const { folder: cwd, env } = order
    const child = spawn(file, args, { cwd, env, detached: true, stdio })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve).once('error', reject)
    })
    const { pid } = child
    if (pid === undefined) throw new Error('a started program has no pid')
    // The program need not read all of its stdin.
    child.stdin?.on('error', () => {}).end(order.stdin)
    hand(child.stdio[HANDED_FD], order.handedBytes)
    const ends = socketsOf(child, order)
    const sockets = ends.slice(0, order.sockets ?? 0)
    const gateSocket = ends.at(sockets.length)
    return { pid, process: child, sockets, complaint: complaintOf(child), gateSocket }
  } finally {
    closeSync(nothing)
  }
}

/** FD_CLOEXEC, as /proc shows it. */
const CLOSED_ON_EXEC = 0o2000000
const COMPLAINT_LETTERS = 4_096
const COMPLAINT_MS = 100

/**
 * The three standard descriptors, with every inherited descriptor closed: one of them may be a folder outside every
 * sandbox.
 */
function stdioOf(
  { stdin, errors, handedBytes, sockets = 0, atGate = false }: StartOrder,
  writer: number,
  nothing: number,
): StdioOptions {
  const stdio: (number | 'pipe' | 'ignore')[] = [
    stdin === undefined ? nothing : 'pipe',
    writer,
    errors === 'merged' ? writer : 'pipe',
  ]
  const put = (fd: number, what: number | 'pipe') => {
    while (stdio.length < fd) stdio.push('ignore')
    stdio[fd] = what
  }
  for (const fd of inheritable()) put(fd, nothing)
  if (handedBytes !== undefined) put(HANDED_FD, 'pipe')
  // Node creates a connected pair of sockets for a `pipe`.
  for (let at = 0; at < sockets + (atGate ? 1 : 0); at++) put(FIRST_SOCKET + at, 'pipe')
  return stdio
}

/** Our ends, that of the gate last. */
function socketsOf(child: ChildProcess, { sockets = 0, atGate }: StartOrder): readonly Duplex[] {
  const count = sockets + (atGate ? 1 : 0)
  return child.stdio.slice(FIRST_SOCKET, FIRST_SOCKET + count).map((socket) => {
    if (!(socket instanceof Duplex)) throw new Error('a started program has no socket')
    return socket.on('error', () => {})
  })
}

function hand(pipe: Readable | Writable | null | undefined, bytes: Uint8Array | undefined): void {
  if (bytes === undefined || !(pipe instanceof Duplex)) return
  // If the program closes it early, stderr explains why. Reading lets the pipe end with the other side.
  pipe.on('error', () => {}).resume()
  pipe.end(bytes)
}

/** Descriptors above 2 that a child would inherit, in ascending order. Node opens none. Empty without /proc. */
function inheritable(): readonly number[] {
  return descriptors()
    .filter((fd) => fd > 2 && isInheritable(fd))
    .toSorted((a, b) => a - b)
}

function descriptors(): number[] {
  try {
    return readdirSync('/proc/self/fdinfo').map(Number)
  } catch {
    return []
  }
}

function isInheritable(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0
  } catch {
    // Closed meanwhile.
    return false
  }
}

function complaintOf({ stderr }: ChildProcess): StartedProgram['complaint'] {
  if (stderr === null) return async () => ''
  let output = ''
  const closed = new Promise<void>((resolve) => void stderr.once('close', resolve))
  stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(0, COMPLAINT_LETTERS)
  })
  return async (clock) => {
    const cancel = clock.after(COMPLAINT_MS, () => stderr.destroy())
    await closed
    cancel()
    return output
  }
}
