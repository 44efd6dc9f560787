import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
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
  /** Resizes the terminal and signals the program. What it printed for the old size is interpreted before that. */
  resize(columns: number, rows: number): Promise<void>
  signal(name: 'SIGTERM' | 'SIGHUP' | 'SIGINT' | 'SIGUSR2'): void
  /**
   * Resolves when the visible rows match; rejects with the rows after a time limit or when the program exits. Every drawing of a
   * program that marks where one ends is seen, however late: what it shows only for a moment is not missed.
   */
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

/** The end of a drawing: of synchronized output. */
const DRAWING_END = '\u001b[?2026l'

/** A stopped program that printed nothing for this long has nothing under way; the system passes it on with a delay. */
const DRAINED_MS = 20

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
  let pieces = 0
  let shown = Promise.resolve()
  const listeners = new Set<() => void>()
  const look = () => {
    for (const listener of listeners) listener()
  }
  terminal.onReply((text) => child.write(text))
  const show = async (drawing: string) => {
    await terminal.write(drawing)
    look()
    // The test that waited for this drawing continues before the next one.
    await nextRound()
  }
  child.onData((text) => {
    raw += text
    pieces += 1
    for (const drawing of drawingsIn(text)) shown = shown.then(() => show(drawing))
  })
  const ended = new Promise<Ended>((resolve) => {
    child.onExit(({ exitCode, signal = 0 }) => {
      exit = { code: exitCode, signal }
      void shown.then(() => {
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
    resize: async (toColumns, toRows) => {
      if (exit !== undefined) return
      await stop(child.pid)
      for (let before = -1; before !== pieces;) {
        before = pieces
        await delay(DRAINED_MS)
        await shown
      }
      terminal.resize(toColumns, toRows)
      child.resize(toColumns, toRows)
      process.kill(child.pid, 'SIGCONT')
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

/** The text in pieces that end where a drawing ends. */
function drawingsIn(text: string): string[] {
  const parts = text.split(DRAWING_END)
  return parts
    .map((part, at) => (at < parts.length - 1 ? part + DRAWING_END : part))
    .filter((part) => part !== '')
}

function nextRound(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Stops a process, and resolves when it has stopped; at once where the system does not tell. */
async function stop(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  while (process.platform === 'linux' && stateOf(pid) !== 'T') await nextRound()
}

function stateOf(pid: number): string | undefined {
  return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]
}

function holds(expected: Expected, rows: readonly string[]): boolean {
  if (typeof expected === 'function') return expected(rows)
  const text = rows.join('\n')
  return typeof expected === 'string' ? text.includes(expected) : expected.test(text)
}

function titleOf(expected: Expected): string {
  return typeof expected === 'string' ? JSON.stringify(expected) : String(expected)
}
