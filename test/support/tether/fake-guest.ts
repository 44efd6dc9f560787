import { ok } from '../../../src/model/errors.ts'
import type { LongProcess } from '../../../src/host/sandbox/sandbox.ts'
import { LineWriter } from '../../../src/tether/frames/line-writer.ts'
import { socketPair } from '../host/socket-pair.ts'

/** A guest that a test plays, with real sockets and without a process. */
export async function fakeGuest() {
  const [frames, theirs] = await socketPair()
  const [relay] = await socketPair()
  const steps: string[] = []
  const received: string[] = []
  let exit: (code: number, held?: boolean) => void = () => {}
  let wasStopped = false
  const leftovers = ok({ appearedPaths: [], runsLater: [], unprotectedPaths: [] })
  const ending = new Promise<Awaited<LongProcess['ending']>>((resolve) => {
    exit = (code, held = false) => {
      if (!held) theirs.destroy()
      resolve({ code, signal: null, wasStopped, complaint: '', leftovers })
    }
  })
  theirs.setEncoding('utf8').on('data', (text: string) => received.push(text))
  const process: LongProcess = {
    pid: 1,
    descriptor: (name) => (name === 'frames' ? frames : relay),
    ending,
    pause: async () => {
      steps.push('pause')
      return ok(undefined)
    },
    resume: async (first) => {
      first?.(7)
      steps.push('resume')
      return ok(7)
    },
    inspect: async () => leftovers,
    stop: async (graceMs) => {
      steps.push(`stop ${graceMs ?? ''}`)
      wasStopped = true
      exit(0)
      await ending
    },
  }
  return {
    process,
    steps,
    /** The lines it received. */
    lines: () => received.join('').split('\n').slice(0, -1),
    socket: theirs,
    write: (line: object) => new LineWriter(theirs).write(line),
    /** `held`: something of it outlives it and holds its socket. */
    exit: (code: number, held?: boolean) => exit(code, held),
  }
}
