import { closeSync, constants, openSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Clock } from '../clock.ts'
import { takeNamedPipe } from './named-pipes.ts'

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants

/** After this much silence, a writer that escaped the process group is no longer waited for. */
const LINGER_MS = 100

/**
 * One pipe for all output of a program. Node would create two sockets: their output cannot be ordered, and a script cannot
 * open `/dev/stderr` if that is a socket.
 */
export interface OutputPipe {
  /** The descriptor for the program. */
  readonly writer: number
  /** Call it once the program has its own copy; the pipe does not end while any copy is open. */
  closeWriter(): void
  /**
   * Delivers what was written, in order, one chunk at a time. Writers block until `take` has finished. Ends when no writer
   * is left, or after `abandon`. Call it only once.
   */
  deliver(take: (chunk: Buffer) => void | Promise<void>): Promise<void>
  /** The program has ended: what is in the pipe is still delivered, but nothing more is waited for. */
  abandon(): void
  close(): void
}

export async function openOutputPipe(clock: Clock): Promise<OutputPipe> {
  const { reader, writer } = await openEnds()
  const socket = new Socket({ fd: reader, readable: true, writable: false })
  // `deliver` reports errors while it runs; before and after it they do not matter.
  socket.on('error', () => {})
  let writerOpen = true
  let abandoned = false
  let taking = false
  let received = false

  const closeWriter = () => {
    if (writerOpen) closeSync(writer)
    writerOpen = false
  }
  const listen = () => {
    received = false
    clock.after(LINGER_MS, () => (taking || received ? listen() : socket.destroy()))
  }
  const deliver: OutputPipe['deliver'] = async (take) => {
    try {
      for await (const chunk of socket) {
        taking = true
        if (Buffer.isBuffer(chunk)) await take(chunk)
        taking = false
        received = true
      }
    } catch (error) {
      if (!abandoned || !endedEarly(error)) throw error
    }
  }
  const abandon = () => {
    abandoned = true
    listen()
  }
  const close = () => {
    closeWriter()
    socket.destroy()
  }
  return { writer, closeWriter, deliver, abandon, close }
}

function endedEarly(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
}

/** A named pipe, opened at both ends and then unlinked. */
async function openEnds(): Promise<{ readonly reader: number; readonly writer: number }> {
  const path = await takeNamedPipe()
  try {
    const reader = openSync(path, O_RDONLY | O_NONBLOCK)
    // Does not block, because the reader is already open.
    return { reader, writer: openSync(path, O_WRONLY) }
  } finally {
    rmSync(path, { force: true })
  }
}
