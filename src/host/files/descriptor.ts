import { fdatasync, open, read, write } from 'node:fs'

/**
 * Calls on plain descriptors, for what runs in every tool round trip: a `FileHandle` costs up to twice as much. The owner of
 * a descriptor closes it once, and not while another call uses it.
 */
export function openDescriptor(path: string, flags: number): Promise<number> {
  return new Promise((resolve, reject) => {
    open(path, flags, (error, descriptor) => (error ? reject(error) : resolve(descriptor)))
  })
}

/** Reads into `into` from `position`; returns the number of bytes, 0 at the end. */
export function readDescriptor(
  descriptor: number,
  into: Uint8Array,
  position: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    read(descriptor, into, 0, into.length, position, (error, count) =>
      error ? reject(error) : resolve(count),
    )
  })
}

/** Writes at the current position and returns the number of bytes written, which may be fewer. */
export function writeDescriptor(descriptor: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, 0, bytes.length, null, (error, count) =>
      error ? reject(error) : resolve(count),
    )
  })
}

export function datasyncDescriptor(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(descriptor, (error) => (error ? reject(error) : resolve()))
  })
}
