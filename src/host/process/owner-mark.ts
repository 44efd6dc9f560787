import { readFileSync, statSync } from 'node:fs'
import process from 'node:process'
import { parseStat } from './kin.ts'

/**
 * A part of a name that says which process made what has it, so that another can tell whether it was abandoned. A process
 * number is used again and means another process in another namespace: so both the namespace and the start are in it.
 */
export function ownerMark(): string {
  const { namespace, pid, since } = self()
  return [namespace, pid, since].map((number) => number.toString(RADIX)).join('-')
}

/** Whether a process of that mark has ended. False where that cannot be known, and for what is no mark. */
export function ownerIsGone(mark: string): boolean {
  const parts = /^([0-9a-z]+)-([0-9a-z]+)-([0-9a-z]+)$/.exec(mark)?.slice(1)
  const [namespace, pid, since] = (parts ?? []).map((part) => Number.parseInt(part, RADIX))
  if (namespace === undefined || pid === undefined || namespace !== self().namespace) return false
  return namespace !== UNKNOWN && sinceOf(String(pid)) !== since
}

const RADIX = 36
const UNKNOWN = 0

function self() {
  return { namespace: namespaceNumber(), pid: process.pid, since: sinceOf('self') ?? UNKNOWN }
}

function namespaceNumber(): number {
  try {
    return statSync('/proc/self/ns/pid').ino
  } catch {
    // No Linux.
    return UNKNOWN
  }
}

/** When a process was started; `undefined` when there is none, or it only waits to be reaped. */
function sinceOf(pid: string): number | undefined {
  try {
    const listed = parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
    return listed === undefined ? undefined : Number(listed.since)
  } catch {
    return undefined
  }
}
