import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import type { SessionId } from '../../../src/model/ids.ts'

/** A real process that uses the stores of a folder. */
export interface StoreProgram {
  readonly pid: number
  /** Runs a request; resolves with its answer. */
  readonly ask: (request: StoreRequest) => Promise<StoreAnswer>
  /** SIGKILL. */
  readonly kill: () => Promise<void>
  readonly end: () => Promise<void>
}

const Request = z.object({
  /**
   * `take` creates the Log or opens it; `append` adds lines with the numbers that follow; `alone` does nothing alone, and `enter`
   * stays alone until the process ends.
   */
  act: z.enum(['take', 'append', 'release', 'alone', 'enter']),
  session: z.string(),
  lines: z.int().optional(),
})
export type StoreRequest = Omit<z.infer<typeof Request>, 'session'> & { session: SessionId }

const Answer = z.object({
  /** `done`, or the kind of an error. */
  outcome: z.string(),
  /** The size of the Log. */
  size: z.int().optional(),
  abandonedBy: z.int().optional(),
})
export type StoreAnswer = z.infer<typeof Answer>

export const parseRequest = (line: string) => Request.parse(JSON.parse(line))

const SCRIPT = fileURLToPath(new URL('store-child.ts', import.meta.url))

export function startProgram(path: string): StoreProgram {
  const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    pid: child.pid ?? 0,
    ask: async (request) => {
      child.stdin.write(`${JSON.stringify(request)}\n`)
      const { value, done } = await answers.next()
      if (done === true) throw new Error('the process ended without an answer')
      return Answer.parse(JSON.parse(value))
    },
    kill: async () => {
      child.kill('SIGKILL')
      await closed
    },
    end: async () => {
      child.stdin.end()
      await closed
    },
  }
}
