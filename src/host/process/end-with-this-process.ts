import process from 'node:process'
import { killKin } from './kin.ts'

const living = new Set<number>()
let watchingExit = false

/**
 * Kills the program and its descendants when this process exits, as far as it gets the chance. Call the returned function
 * when the program has ended: its pid may be reused.
 */
export function endWithThisProcess(pid: number): () => void {
  living.add(pid)
  if (!watchingExit) {
    watchingExit = true
    process.on('exit', () => {
      for (const one of living) killKin(one)
    })
  }
  return () => void living.delete(pid)
}
