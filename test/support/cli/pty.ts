import { spawn } from '@lydell/node-pty'
import { onTestFinished } from 'vitest'
import { VirtualTerminal } from './virtual-terminal.ts'

export interface PtyOptions {
  readonly columns: number
  readonly rows: number
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** A program in a real pseudoterminal, with a virtual terminal that interprets its output. */
export interface Pty {
  readonly pid: number
  readonly terminal: VirtualTerminal
  /** All output of the program, uninterpreted. */
  raw(): string
  /** Sends text as if it were typed. */
  write(text: string): void
  /** Resizes the terminal and signals the program. */
  resize(columns: number, rows: number): void
  signal(name: 'SIGTERM' | 'SIGHUP' | 'SIGINT' | 'SIGUSR2'): void
  /** Resolves when the visible rows match; rejects with the rows after a time limit or when the program exits. */
  until(expected: Expected): Promise<void>
  /** Resolves when the program has exited and all its output was interpreted. */
  readonly ended: Promise<Ended>
}

/** Text that must be visible, or a predicate on the visible rows. */
type Expected = string | RegExp | ((rows: readonly string[]) => boolean)

export interface Ended {
  readonly code: number
  readonly signal: number
}

/** Longer than any step takes on any machine. */
const TIMEOUT_MS = 50_000

export function openPty(program: string, args: readonly string[], options: PtyOptions): Pty {
  const { columns, rows, cwd, env } = options
  const terminal = new VirtualTerminal(columns, rows)
  const child = spawn(program, [...args], {
    name: 'xterm-256color',
    cols: columns,
    rows,
    cwd,
    env: { ...process.env, ...env },
  })
  let raw = ''
  let exit: Ended | undefined
  let written = Promise.resolve()
  const listeners = new Set<() => void>()
  const look = () => {
    for (const listener of listeners) listener()
  }
  terminal.onReply((text) => child.write(text))
  child.onData((text) => {
    raw += text
    written = terminal.write(text).then(look)
  })
  const ended = new Promise<Ended>((resolve) => {
    child.onExit(({ exitCode, signal = 0 }) => {
      exit = { code: exitCode, signal }
      void written.then(() => {
        look()
        resolve({ code: exitCode, signal })
      })
    })
  })
  onTestFinished(async () => {
    if (exit === undefined) child.kill('SIGKILL')
    await ended
  })
  return {
    pid: child.pid,
    terminal,
    ended,
    raw: () => raw,
    write: (text) => child.write(text),
    resize: (toColumns, toRows) => {
      terminal.resize(toColumns, toRows)
      child.resize(toColumns, toRows)
      look()
    },
    signal: (name) => child.kill(name),
    until: (expected) =>
      new Promise((resolve, reject) => {
        const refuse = (why: string) => {
          finish()
          reject(new Error(`${why}: ${titleOf(expected)}\n${terminal.screen().join('\n')}`))
        }
        const finish = () => {
          listeners.delete(check)
          clearTimeout(timer)
        }
        const check = () => {
          if (holds(expected, terminal.screen())) {
            finish()
            resolve()
          } else if (exit !== undefined)
            refuse(`the program exited with ${exit.code} without showing`)
        }
        const timer = setTimeout(() => refuse('the program never showed'), TIMEOUT_MS)
        listeners.add(check)
        check()
      }),
  }
}

function holds(expected: Expected, rows: readonly string[]): boolean {
  if (typeof expected === 'function') return expected(rows)
  const text = rows.join('\n')
  return typeof expected === 'string' ? text.includes(expected) : expected.test(text)
}

function titleOf(expected: Expected): string {
  return typeof expected === 'string' ? JSON.stringify(expected) : String(expected)
}
