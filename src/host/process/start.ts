import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { Duplex, type Readable, type Writable } from 'node:stream'
import type { Clock } from '../clock.ts'

/** What a started program needs; see `Program`. */
export interface StartOrder {
  readonly argv: readonly [string, ...string[]]
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: Uint8Array
  readonly errors: 'merged' | 'apart'
  /** What it can read from `HANDED`, to the end. */
  readonly handed?: Uint8Array
}

/** The descriptor of `StartOrder.handed`. */
export const HANDED = 3

/** A program that runs and leads a session and a process group of its own. */
export interface Started {
  readonly pid: number
  readonly process: ChildProcess
  readonly since: number
  /** What came on stderr where it is kept apart. A process that still holds it is not waited for. */
  complaint(clock: Clock): Promise<string>
}

/** Starts a program that says everything to `writer`. Throws the system's error when it cannot be started. */
export async function startProgram(order: StartOrder, writer: number): Promise<Started> {
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
    if (pid === undefined) throw new Error('a started program has a number')
    // Whoever does not read to the end has read enough.
    child.stdin?.on('error', () => {}).end(order.stdin)
    hand(child.stdio[HANDED], order.handed)
    return { pid, process: child, since: performance.now(), complaint: complaintOf(child) }
  } finally {
    closeSync(nothing)
  }
}

/** FD_CLOEXEC, as /proc shows it. */
const CLOSED_ON_EXEC = 0o2000000
const COMPLAINT_LETTERS = 4_096
const COMPLAINT_MS = 100

/**
 * The three descriptors, and nothing in place of those that whoever started us left open for everyone: one of them may be a
 * folder outside every sandbox.
 */
function stdioOf(
  { stdin, errors, handed }: StartOrder,
  writer: number,
  nothing: number,
): StdioOptions {
  const stdio: (number | 'pipe' | 'ignore')[] = [
    stdin === undefined ? nothing : 'pipe',
    writer,
    errors === 'merged' ? writer : 'pipe',
  ]
  for (const fd of inheritable()) {
    while (stdio.length < fd) stdio.push('ignore')
    stdio[fd] = nothing
  }
  if (handed !== undefined) stdio[HANDED] = 'pipe'
  return stdio
}

function hand(pipe: Readable | Writable | null | undefined, bytes: Uint8Array | undefined): void {
  if (bytes === undefined || !(pipe instanceof Duplex)) return
  // Whoever closes it early has said on stderr what it lacks. Reading lets it end with the other side.
  pipe.on('error', () => {}).resume()
  pipe.end(bytes)
}

/** Descriptors beyond the third that a child would get, in rising order. Node opens none. Without /proc nothing is known. */
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

function complaintOf({ stderr }: ChildProcess): Started['complaint'] {
  if (stderr === null) return async () => ''
  let said = ''
  const closed = new Promise<void>((resolve) => void stderr.once('close', resolve))
  stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, COMPLAINT_LETTERS)
  })
  return async (clock) => {
    const cancel = clock.after(COMPLAINT_MS, () => stderr.destroy())
    await closed
    cancel()
    return said
  }
}
