import { fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Our ends of sockets that the parent of this process opened for it; `undefined` if one of them is not a socket. */
export function inheritedSockets<const Descriptors extends readonly number[]>(
  descriptors: Descriptors,
): { readonly [At in keyof Descriptors]: Duplex } | undefined
export function inheritedSockets(descriptors: readonly number[]): readonly Duplex[] | undefined {
  if (!descriptors.every(isSocket)) return undefined
  return descriptors.map((fd) => new Socket({ fd, readable: true, writable: true }))
}

function isSocket(fd: number): boolean {
  try {
    return fstatSync(fd).isSocket()
  } catch {
    return false
  }
}
