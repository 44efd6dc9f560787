import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { InstanceId } from '../../../src/model/ids.ts'
import type { NamedEntry } from '../../../src/tether/frames/frame-entry.ts'

/** A real process that holds the frames of an Instance. */
export interface FrameProgram {
  /** `open`, or the kind of an error. */
  readonly open: (instance: InstanceId) => Promise<string>
  /** `stored`, or the kind of an error. */
  readonly append: (entry: NamedEntry) => Promise<string>
  /** SIGKILL. */
  readonly kill: () => Promise<void>
}

const SCRIPT = fileURLToPath(new URL('frame-child.ts', import.meta.url))

export function startFrameProgram(home: string): FrameProgram {
  const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, home], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (request: object) => {
    child.stdin.write(`${JSON.stringify(request)}\n`)
    const { value, done } = await answers.next()
    if (done === true) throw new Error('the process ended without an answer')
    return value
  }
  return {
    open: (instance) => ask({ act: 'open', instance }),
    append: (entry) => ask({ act: 'append', entry }),
    kill: async () => {
      child.kill('SIGKILL')
      await closed
    },
  }
}
