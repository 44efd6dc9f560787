import { readFileSync, statSync } from 'node:fs'
import process from 'node:process'
import { parseStat } from './kin.ts'

/**
 * A part of a file name that identifies the process that created the file, so that another process can tell whether it was
 * abandoned. Pids are reused and differ between namespaces, so the mark also contains the namespace and the start time.
 */
export function ownerMark(): string {
  const { namespace, pid, since } = self()
  return [namespace, pid, since].map((number) => number.toString(RADIX)).join('-')
}

/** Whether the process with this mark has ended. False if that cannot be determined or the mark is invalid. */
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
    // Not Linux.
    return UNKNOWN
  }
}

/** The start time of a process; `undefined` if it does not exist or is a zombie. */
function sinceOf(pid: string): number | undefined {
  try {
    const listed = parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
    return listed === undefined ? undefined : Number(listed.since)
  } catch {
    return undefined
  }
}
