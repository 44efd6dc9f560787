import { spawn } from '@lydell/node-pty'
import { onTestFinished } from 'vitest'
import { VirtualTerminal } from './virtual-terminal.ts'

export interface PtyOptions {
  readonly columns: number
  readonly rows: number
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** A program in a real pseudoterminal, and a terminal that shows what it writes. */
export interface Pty {
  readonly pid: number
  readonly terminal: VirtualTerminal
  /** Everything the program wrote, as it came. */
  raw(): string
  /** As if typed. */
  write(text: string): void
  /** The terminal changes its size, and the program is told. */
  resize(columns: number, rows: number): void
  signal(name: 'SIGTERM' | 'SIGHUP' | 'SIGINT' | 'SIGUSR2'): void
  /** Resolves when the rows in sight are so; rejects, and shows them, when that takes too long or the program ended. */
  until(what: Shown): Promise<void>
  /** Resolves to how the program ended, when all it wrote was taken in. */
  readonly ended: Promise<Ended>
}

/** Text that must be in sight, or a question about the rows. */
type Shown = string | RegExp | ((rows: readonly string[]) => boolean)

export interface Ended {
  readonly code: number
  readonly signal: number
}

/** Nothing takes this long on any machine: whoever waits for it waits in vain. */
const PATIENCE_MS = 30_000

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
  let over: Ended | undefined
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
      over = { code: exitCode, signal }
      void written.then(() => {
        look()
        resolve({ code: exitCode, signal })
      })
    })
  })
  onTestFinished(async () => {
    if (over === undefined) child.kill('SIGKILL')
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
    until: (what) =>
      new Promise((resolve, reject) => {
        const refuse = (why: string) => {
          finish()
          reject(new Error(`${why}: ${titleOf(what)}\n${terminal.screen().join('\n')}`))
        }
        const finish = () => {
          listeners.delete(check)
          clearTimeout(timer)
        }
        const check = () => {
          if (holds(what, terminal.screen())) {
            finish()
            resolve()
          } else if (over !== undefined) refuse(`It ended with ${over.code} and never showed`)
        }
        const timer = setTimeout(() => refuse('It never showed'), PATIENCE_MS)
        listeners.add(check)
        check()
      }),
  }
}

function holds(what: Shown, rows: readonly string[]): boolean {
  if (typeof what === 'function') return what(rows)
  const text = rows.join('\n')
  return typeof what === 'string' ? text.includes(what) : what.test(text)
}

function titleOf(what: Shown): string {
  return typeof what === 'string' ? JSON.stringify(what) : String(what)
}
