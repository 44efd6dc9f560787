import { readFileSync } from 'node:fs'
import process from 'node:process'
import type { Clock } from '../clock.ts'
import { wait } from '../wait.ts'
import { entryNames } from '../files/look.ts'

/** A process as listed in /proc. */
export interface ListedProcess {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** Start time in clock ticks, which distinguishes processes that reuse a pid. */
  readonly since: string
  /** The letter of its state, such as `R`; `T` and `t` are stopped. */
  readonly state: string
}

const POLL_MS = 2
/** A process that does not end within this time (stuck in the kernel) is not waited for. */
const MOST_POLLS = 2_500

/**
 * Sends SIGKILL to the group of `leader` and to all its descendants, in whatever group or namespace, and returns the
 * processes it found. The leader must not have been reaped long ago: its pid could belong to another process.
 */
export function killKin(leader: number): readonly ListedProcess[] {
  const kin = listKin(leader)
  signal(-leader)
  for (const { pid } of kin) signal(pid)
  return kin
}

/** The descendants of `leader` and its group, itself included; empty without /proc. */
export function listKin(leader: number): readonly ListedProcess[] {
  return kinOf(leader, listProcesses())
}

/** Whether the group of `leader` still has a process. */
export function groupLives(leader: number): boolean {
  try {
    process.kill(-leader, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Whether a process has ended and was not reaped yet. False without /proc. */
export function isZombie(pid: number): boolean {
  const stat = statOf(String(pid))
  return stat !== '' && parseStat(stat) === undefined
}

/** Resolves when none of these processes runs any more. Kills them again each time they are found. */
export async function untilGone(kin: readonly ListedProcess[], clock: Clock): Promise<void> {
  let left = kin
  for (let polls = 0; left.length > 0 && polls < MOST_POLLS; polls++) {
    const running = new Map(listProcesses().map((one) => [one.pid, one]))
    left = left.filter(({ pid, since }) => running.get(pid)?.since === since)
    for (const { pid } of left) signal(pid)
    if (left.length > 0) await wait(clock, POLL_MS)
  }
}

/** The processes in the list that descend from `leader` or are in its group, itself included. Pure. */
export function kinOf(leader: number, all: readonly ListedProcess[]): readonly ListedProcess[] {
  const kin = new Set([leader])
  // A parent may follow its child in the list, so repeat until nothing is added.
  for (let size = 0; size !== kin.size;) {
    size = kin.size
    for (const one of all) if (kin.has(one.parent) || one.group === leader) kin.add(one.pid)
  }
  return all.filter(({ pid }) => kin.has(pid))
}

/** All running processes, as far as /proc shows them; empty without /proc. Leaves out zombies. */
function listProcesses(): ListedProcess[] {
  return entryNames('/proc').flatMap((name) => {
    const listed = /^\d+$/.test(name) ? parseStat(statOf(name)) : undefined
    return listed === undefined ? [] : [listed]
  })
}

/**
 * Parses /proc/<pid>/stat; `undefined` for a zombie. The name in parentheses may contain anything, including parentheses. A
 * process whose first thread has ended looks like a zombie while its other threads run on.
 */
export function parseStat(text: string): ListedProcess | undefined {
  const pid = Number.parseInt(text, 10)
  const [state, parent, group, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const since = rest[16]
  if (Number.isNaN(pid) || state === undefined || since === undefined) return undefined
  if ((state === 'Z' || state === 'X') && Number(rest[14]) <= 1) return undefined
  return { pid, parent: Number(parent), group: Number(group), since, state }
}

function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    // The process has ended meanwhile.
    return ''
  }
}

/** Sends a signal to a process or, if negative, to a group. */
export function signal(pid: number, name: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has ended or belongs to another user.
  }
}
