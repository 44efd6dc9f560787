import { closeSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs'
import { systemClock } from '../clock.ts'

/** How a watch ends. */
export interface NetworkWatch {
  /** Looks for the last time, and answers whether the network was tried. */
  end(): boolean
}

/**
 * Watches a program in a network namespace of its own, which leads nowhere: `tried` is called once, when something in it
 * first tries to reach an address without a route, or a name server that is not there. Finds nothing where /proc does not
 * show it. Never throws.
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
      // The counters can be read until here, also when every process of the namespace is gone.
      for (const fd of counters ?? []) closeSync(fd)
      counters = []
      return found
    },
  }
}

/** A sandbox takes a few milliseconds to be set up. */
const START_MS = 2
const LONGEST_START_MS = 5_000
const POLL_MS = 250

/** IPv4 and UDP, and IPv6 where there is any. */
const FILES = ['snmp', 'snmp6'] as const

/** Open counters of the first process below `pid` that has another network than we do. */
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

/** Of `/proc/net/snmp`: a line of names, then a line of figures. */
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
