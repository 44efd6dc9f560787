import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'
import type { Clock } from '../clock.ts'
import { isZombie } from './kin.ts'

/**
 * A socket at which the wrappers of a program wait before they start it. A process asks for a signal at the death of its parent,
 * but gets none if the parent died before that. So the last wrapper reports that all have asked, and continues only if this
 * process then still runs and sees the first of them run.
 */
export interface Gate {
  /** Call it when the first wrapper has ended. Resolves when nothing waits at the gate, or after a time limit. */
  shut(clock: Clock): Promise<void>
}

/** A step of a shell script: passes the gate at a descriptor and closes it. */
export function passGate(descriptor: number): string {
  return `{ echo up >&${descriptor} && read -r _ <&${descriptor}; } 2>/dev/null || exit 1; exec ${descriptor}>&-`
}

export const NO_GATE: Gate = { shut: async () => {} }

/** What is killed in the kernel is not waited for longer. */
const MOST_MS = 5_000

/** `admit` decides with the first wrapper whether the program may start. */
export function keepGate(
  wrapper: ChildProcess,
  socket: Duplex,
  admit: (leader: number) => boolean = () => true,
): Gate {
  const closed = new Promise<void>((resolve) => void socket.once('close', resolve))
  socket.on('error', () => {})
  socket.once('data', () => {
    if (runs(wrapper) && wrapper.pid !== undefined && admit(wrapper.pid)) socket.write('go\n')
    socket.end()
  })
  // It ends when no process has the other end any more.
  socket.once('end', () => void socket.end())
  return {
    shut: async (clock) => {
      socket.end()
      const cancel = clock.after(MOST_MS, () => void socket.destroy())
      await closed
      cancel()
    },
  }
}

function runs({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null && pid !== undefined && !isZombie(pid)
}
