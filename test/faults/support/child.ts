import { spawn } from 'node:child_process'
import { ChildReport } from '../../support/host/child-report.ts'

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Its standard error. */
  readonly complaint: string
}

/** A child process that reports what it does. */
export interface Child {
  readonly pid: number
  /** All its reports so far, in order. */
  readonly reports: readonly ChildReport[]
  /** Resolves when it has exited and its last complete line was read. */
  readonly ended: Promise<Ending>
  /** Its first report, past or future, that matches; `undefined` if it exits before. */
  waitFor(what: (report: ChildReport) => boolean): Promise<ChildReport | undefined>
  send(line: string): void
  kill(): Promise<Ending>
}

export interface ChildOptions {
  /** A program and its arguments that start the child. */
  readonly under?: readonly string[]
  /** Options of Node. */
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly note?: (report: ChildReport) => void
}

export function startChild(script: string, order: object, options: ChildOptions = {}): Child {
  const [command = process.execPath, ...before] = options.under ?? []
  const own = [...(options.flags ?? []), script, JSON.stringify(order)]
  const args = options.under === undefined ? own : [...before, process.execPath, ...own]
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
  })
  // A child that has exited does not read its input; `ended` reports that it has exited.
  child.stdin.on('error', () => {})
  const reports: ChildReport[] = []
  const listeners = new Set<() => void>()
  let over = false
  let unfinished = ''
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (unfinished + text).split('\n')
    // A line without its newline does not count.
    unfinished = lines.pop() ?? ''
    for (const line of lines) {
      const one = ChildReport.parse(JSON.parse(line))
      reports.push(one)
      options.note?.(one)
    }
    for (const listener of listeners) listener()
  })
  const ended = new Promise<Ending>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      over = true
      resolve({ code, signal, complaint })
      for (const listener of listeners) listener()
    })
  })
  return {
    pid: child.pid ?? 0,
    reports,
    ended,
    waitFor: (what) =>
      new Promise((resolve) => {
        let seen = 0
        const look = () => {
          while (seen < reports.length) {
            const one = reports[seen++]
            if (one !== undefined && what(one)) return answer(one)
          }
          if (over) answer(undefined)
        }
        const answer = (one: ChildReport | undefined) => {
          listeners.delete(look)
          resolve(one)
        }
        listeners.add(look)
        look()
      }),
    send: (line) => void child.stdin.write(`${line}\n`),
    kill: () => {
      child.kill('SIGKILL')
      return ended
    },
  }
}
