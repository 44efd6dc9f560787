import { closeSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs'
import { systemClock } from '../clock.ts'

export interface NetworkWatch {
  /** Checks one last time and returns whether the program tried to use the network. May be called more than once. */
  end(): boolean
}

/**
 * Watches a program in its own network namespace, which has no routes. Calls `tried` once, when a process in it first tries
 * to reach an address without a route or a missing name server. Reports nothing where /proc does not show the counters.
 * Never throws.
 */
export function watchNetworkTries(pid: number, tried: () => void): NetworkWatch {
  let counters: readonly number[] | undefined
  let found = false
  let cancel: (() => void) | undefined
  const look = () => {
    counters ??= countersOf(pid)
    if (found || counters === undefined) return
    found = counters.some((fd) => tries(fd) > 0)
    if (found) tried()
  }
  const poll = (waited: number) => {
    look()
    if (found || (counters === undefined && waited > LONGEST_START_MS)) return
    const ms = counters === undefined ? START_MS : POLL_MS
    cancel = systemClock.after(ms, () => poll(counters === undefined ? waited + ms : 0))
  }
  poll(0)
  return {
    end: () => {
      cancel?.()
      look()
      // The open files stay readable after the last process of the namespace has ended.
      for (const fd of counters ?? []) closeSync(fd)
      counters = []
      return found
    },
  }
}

/** Setting up a sandbox takes a few milliseconds. */
const START_MS = 2
const LONGEST_START_MS = 5_000
const POLL_MS = 250

/** IPv4 and UDP; then IPv6, where the kernel supports it. */
const FILES = ['snmp', 'snmp6'] as const

/** Opens the counters of the first process at or below `pid` whose network namespace differs from ours. */
function countersOf(pid: number): readonly number[] | undefined {
  const inside = processWithin(pid, networkOf('self'), 0)
  if (inside === undefined) return undefined
  const open = FILES.flatMap((name) => {
    const fd = possibly(() => openSync(`/proc/${inside}/net/${name}`, 'r'))
    return fd === undefined ? [] : [fd]
  })
  return open.length === 0 ? undefined : open
}

function processWithin(pid: number, ours: string | undefined, depth: number): number | undefined {
  const theirs = networkOf(pid)
  if (ours === undefined || theirs === undefined || depth > DEEPEST) return undefined
  if (theirs !== ours) return pid
  for (const child of childrenOf(pid)) {
    const found = processWithin(child, ours, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

const DEEPEST = 4

function networkOf(pid: number | 'self'): string | undefined {
  return possibly(() => readlinkSync(`/proc/${pid}/ns/net`))
}

function childrenOf(pid: number): number[] {
  const text = possibly(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')) ?? ''
  return text.split(' ').filter(Boolean).map(Number)
}

const MOST_BYTES = 16 * 1024

function tries(fd: number): number {
  const bytes = Buffer.alloc(MOST_BYTES)
  const length = possibly(() => readSync(fd, bytes, 0, MOST_BYTES, 0)) ?? 0
  const text = bytes.toString('latin1', 0, length)
  return (
    counter(text, 'Ip', 'OutNoRoutes') +
    counter(text, 'Udp', 'NoPorts') +
    Number(/^Ip6OutNoRoutes\s+(\d+)$/m.exec(text)?.[1] ?? 0)
  )
}

/** Reads a value of `/proc/net/snmp`, which has a line of names followed by a line of numbers. */
function counter(text: string, group: string, name: string): number {
  const [names = [], figures = []] = text
    .split('\n')
    .filter((line) => line.startsWith(`${group}: `))
    .map((line) => line.split(' '))
  return Number(figures[names.indexOf(name)] ?? 0)
}

function possibly<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
