import { readdirSync, readFileSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import { wait } from '../wait.ts'
import { listKin, signal, type ListedProcess } from './kin.ts'

/** `gone`: nothing runs any more, or there is no /proc. `running`: processes started faster than they could be stopped. */
export type StopOutcome = 'stopped' | 'gone' | 'running'

/** The processes that were stopped, by pid and start time. Whatever had stopped before is not among them. */
export type StoppedKin = Map<string, ListedProcess>

const POLL_MS = 1
const MOST_LOOKS = 200

/**
 * Stops `leader` and all its descendants, in whatever group or namespace, parents before children, so that no parent sees
 * its child stop. Looks until all are stopped and none was added, and adds what it stopped to `stopped`.
 */
export async function stopKin(
  leader: number,
  stopped: StoppedKin,
  clock: Clock,
): Promise<StopOutcome> {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const kin = fromTheTop(leader, listKin(leader))
    if (kin.length === 0) return 'gone'
    const running = kin.filter((one) => !isHeld(one, stopped))
    if (running.length === 0 && !hasOthers(kin)) return 'stopped'
    for (const one of running) {
      signal(one.pid, 'SIGSTOP')
      stopped.set(keyOf(one), one)
    }
    await wait(clock, POLL_MS)
  }
  return 'running'
}

/** Continues what `stopKin` stopped, children before parents, and empties `stopped`. */
export function continueKin(leader: number, stopped: StoppedKin): void {
  const kin = fromTheTop(leader, listKin(leader))
  for (const one of kin.toReversed()) {
    if (stopped.has(keyOf(one))) signal(one.pid, 'SIGCONT')
  }
  stopped.clear()
}

function keyOf({ pid, since }: ListedProcess): string {
  return `${pid} ${since}`
}

/**
 * Whether no thread of a process can run its own code. One that waits in the kernel (D), as a parent does until its child
 * has executed a program, stops before it runs its own code again, if it was told to.
 */
function isHeld(one: ListedProcess, stopped: StoppedKin): boolean {
  if (ACTIVE.has(one.state)) return false
  const told = stopped.has(keyOf(one))
  // The state of a process is that of its first thread.
  return threadsOf(one.pid).every((thread) => {
    const stat = read(`/proc/${one.pid}/task/${thread}/stat`)
    const state = stat.charAt(stat.lastIndexOf(')') + 2)
    return !ACTIVE.has(state) && (state !== 'D' || told)
  })
}

const ACTIVE: ReadonlySet<string> = new Set(['R', 'S', 'I'])

/** Orders processes so that each follows its parent. Pure. */
export function fromTheTop(leader: number, kin: readonly ListedProcess[]): ListedProcess[] {
  const known = new Set(kin.map(({ pid }) => pid))
  const children = new Map<number, ListedProcess[]>()
  for (const one of kin) {
    const above = one.pid === leader || !known.has(one.parent) ? 0 : one.parent
    children.set(above, [...(children.get(above) ?? []), one])
  }
  const ordered = [...(children.get(0) ?? [])]
  // Grows while it is read.
  for (const { pid } of ordered) ordered.push(...(children.get(pid) ?? []))
  return ordered
}

/**
 * Whether the kernel lists a child that `kin` lacks. A process that forks and exits over and over can have a new pid each
 * time /proc is read; it is still in its parent's list of children.
 */
function hasOthers(kin: readonly ListedProcess[]): boolean {
  const known = new Set(kin.map(({ pid }) => String(pid)))
  return kin.some(({ pid }) =>
    threadsOf(pid).some((thread) =>
      read(`/proc/${pid}/task/${thread}/children`)
        .split(' ')
        .some((child) => child !== '' && !known.has(child) && !isZombie(child)),
    ),
  )
}

function isZombie(pid: string): boolean {
  const status = read(`/proc/${pid}/status`)
  return /^State:\s*[ZX]/m.test(status) && /^Threads:\s*1$/m.test(status)
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // The process has ended meanwhile, or the kernel does not list children.
    return ''
  }
}
