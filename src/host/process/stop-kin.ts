import { readFileSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import { wait } from '../wait.ts'
import { listKin, parseStat, signal, type ListedProcess } from './kin.ts'
import { entryNames } from '../files/look.ts'

/** `gone`: nothing runs any more, or there is no /proc. `running`: processes started faster than they could be stopped. */
export type StopOutcome = 'stopped' | 'gone' | 'running'

/** One pause: which processes got the signal to stop, and which had stopped before. Each by pid and start time. */
export interface KinPause {
  readonly signalledKeys: Set<string>
  earlier?: ReadonlySet<string>
  /** Everything that was there when the last look found all of it stopped. */
  kin?: readonly ListedProcess[]
}

const POLL_MS = 1
const MOST_LOOKS = 200

/**
 * Stops `leader`, its group and all its descendants, in whatever group or namespace, parents before children, so that no
 * parent sees its child stop. Looks until all are stopped and none was added. May be called again in the same pause.
 */
export async function stopKin(leader: number, pause: KinPause, clock: Clock): Promise<StopOutcome> {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const kin = fromTheTop(leader, listKin(leader))
    if (kin.length === 0) return 'gone'
    pause.earlier ??= new Set(kin.filter(({ state }) => STOPPED.has(state)).map(processKey))
    const running = kin.filter((one) => !isHeld(one, pause))
    if (running.length === 0 && !hasOthers(kin)) {
      pause.kin = kin
      return 'stopped'
    }
    // One that forks and exits over and over, and whose parents have ended, is listed by no one. It is still in the group.
    signal(-leader, 'SIGSTOP')
    for (const one of running) {
      signal(one.pid, 'SIGSTOP')
      pause.signalledKeys.add(processKey(one))
    }
    await wait(clock, POLL_MS)
  }
  return 'running'
}

/** Whether what `stopKin` stopped is still stopped. Reads only those processes, since it is called often. */
export function areStopped(pause: KinPause): boolean {
  return (pause.kin ?? []).every((one) => {
    const now = parseStat(procText(`/proc/${one.pid}/stat`))
    return now !== undefined && now.since === one.since && isHeld(now, pause)
  })
}

/** Continues everything but what had stopped before the pause, children before parents. */
export function continueKin(leader: number, { earlier }: KinPause): void {
  const kin = fromTheTop(leader, listKin(leader))
  for (const one of kin.toReversed()) {
    if (earlier?.has(processKey(one)) !== true) signal(one.pid, 'SIGCONT')
  }
}

const STOPPED: ReadonlySet<string> = new Set(['T', 't'])

function processKey({ pid, since }: ListedProcess): string {
  return `${pid} ${since}`
}

/**
 * Whether no thread of a process can run its own code. One that waits in the kernel (D), as a parent does until its child
 * has executed a program, stops before it runs its own code again, if it got the signal.
 */
function isHeld(one: ListedProcess, pause: KinPause): boolean {
  if (ACTIVE.has(one.state)) return false
  const told = pause.signalledKeys.has(processKey(one))
  // The state of a process is that of its first thread.
  return threadsOf(one.pid).every((thread) => {
    const stat = procText(`/proc/${one.pid}/task/${thread}/stat`)
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
      procText(`/proc/${pid}/task/${thread}/children`)
        .split(' ')
        .some((child) => child !== '' && !known.has(child) && !isZombie(child)),
    ),
  )
}

function isZombie(pid: string): boolean {
  const status = procText(`/proc/${pid}/status`)
  return /^State:\s*[ZX]/m.test(status) && /^Threads:\s*1$/m.test(status)
}

function threadsOf(pid: number): readonly string[] {
  return entryNames(`/proc/${pid}/task`)
}

function procText(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // The process has ended meanwhile, or the kernel does not list children.
    return ''
  }
}
