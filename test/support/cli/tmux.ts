import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { freshFolder } from '../host/folder.ts'

/** A window of a real tmux, without a terminal that shows it. */
export interface TmuxWindow {
  /** Types a text, character by character. */
  type(text: string): Promise<void>
  /** Presses keys by the names that tmux gives them: `Enter`, `C-o`, `M-Up`. */
  press(...keys: readonly string[]): Promise<void>
  /** Pastes a text at once, as a terminal does. */
  paste(text: string): Promise<void>
  /** Resolves when the program has the new size, which tmux passes on with a delay. */
  resize(columns: number, rows: number): Promise<void>
  /** The visible rows. */
  screen(): Promise<readonly string[]>
  /** The same with their escape sequences of colours. */
  colours(): Promise<readonly string[]>
  /** Every row, also those that scrolled away. */
  history(): Promise<readonly string[]>
  /** Forgets the rows that scrolled away. */
  clearHistory(): Promise<void>
  /** What tmux knows of the window by a format, such as `#{alternate_on}`. */
  fact(format: string): Promise<string>
  /** Resolves when the program has printed this, however briefly it was visible; rejects after a time limit. */
  printed(expected: RegExp): Promise<void>
  /** Resolves when the visible rows match; rejects with the rows after a time limit. */
  until(expected: string | RegExp | ((rows: readonly string[]) => boolean)): Promise<void>
}

export interface TmuxOptions {
  readonly columns: number
  readonly rows: number
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** A command line for a shell. */
  readonly command: string
}

/** Longer than any step takes on any machine. */
const TIMEOUT_MS = 50_000
const POLL_MS = 10

export async function hasTmux(): Promise<boolean> {
  return promisify(execFile)('tmux', ['-V']).then(
    () => true,
    () => false,
  )
}

/** Starts a tmux server of its own, without any configuration, and a program in it. Both end with the test. */
export async function openTmux(options: TmuxOptions): Promise<TmuxWindow> {
  const { columns, rows, cwd, env, command } = options
  const folder = await freshFolder()
  const args = ['-S', join(folder, 'tmux'), '-f', '/dev/null', '-C', 'new-session', '-s', 'chat']
  const control = new Control(spawn('tmux', [...args, 'cat'], { cwd, env: { ...env } }))
  onTestFinished(() => control.end())
  const run = (...lines: readonly string[]) => control.run(lines.join(' '))
  await control.ready
  for (const setting of [
    'set -g history-limit 200000',
    'set -s escape-time 0',
    'set -g status off',
    'set -g window-size manual',
    `resize-window -x ${columns} -y ${rows}`,
    // The first window began before the settings.
    `respawn-pane -k ${quoted(`clear; ${command}`)}`,
    'clear-history',
  ])
    await run(setting)
  const rowsOf = (from: string) => run('capture-pane -p', from)
  let pastes = 0
  return {
    type: async (text) => void (await run('send-keys -l --', quoted(text))),
    press: async (...keys) => void (await run('send-keys', ...keys.map(quoted))),
    paste: async (text) => {
      pastes += 1
      const file = join(folder, `paste-${pastes}`)
      await writeFile(file, text)
      await run('load-buffer', quoted(file))
      await run('paste-buffer -p -r')
    },
    resize: async (toColumns, toRows) => {
      await run(`resize-window -x ${toColumns} -y ${toRows}`)
      const [tty = ''] = await run('display-message -p', quoted('#{pane_tty}'))
      await sized(tty, `${toRows} ${toColumns}`)
    },
    screen: () => rowsOf(''),
    colours: () => rowsOf('-e'),
    history: () => rowsOf('-S -'),
    clearHistory: async () => void (await run('clear-history')),
    fact: async (format) => (await run('display-message -p', quoted(format))).join('\n'),
    printed: (expected) => control.until(async () => [control.printed], expected),
    until: (expected) => control.until(() => rowsOf(''), expected),
  }
}

/** Waits until a terminal has a size: rows and columns. */
async function sized(tty: string, expected: string): Promise<void> {
  const end = Date.now() + TIMEOUT_MS
  for (;;) {
    const { stdout } = await promisify(execFile)('sh', ['-c', 'stty size < "$1"', 'sh', tty])
    if (stdout.trim() === expected) return
    if (Date.now() >= end) throw new Error(`${tty} has ${stdout.trim()}, not ${expected}`)
    await delay(POLL_MS)
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Before the number of a pane and what was printed there. */
const OUTPUT = '%output '

type Child = ReturnType<typeof spawn>

/** The control mode of tmux: commands, their replies in order, and a line for all that a program prints. */
class Control {
  readonly #child: Child
  readonly #replies: { resolve: (rows: string[]) => void; reject: (error: Error) => void }[] = []
  readonly #listeners = new Set<() => void>()
  readonly ready: Promise<unknown>
  /** All that programs printed, with octal numbers for control characters and backslashes. */
  printed = ''
  #rows: string[] | undefined

  constructor(child: Child) {
    this.#child = child
    // The reply to the command line itself.
    this.ready = this.#reply()
    if (child.stdout === null) throw new Error('tmux has no output')
    createInterface({ input: child.stdout }).on('line', (line) => this.#take(line))
    child.on('exit', () => {
      for (const { reject } of this.#replies.splice(0)) reject(new Error('tmux ended'))
    })
  }

  run(command: string): Promise<string[]> {
    const reply = this.#reply()
    this.#child.stdin?.write(`${command}\n`)
    return reply
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.stdin?.write('kill-server\n')
    await ended
  }

  async until(
    screen: () => Promise<readonly string[]>,
    expected: Parameters<TmuxWindow['until']>[0],
  ): Promise<void> {
    let news = true
    let wake = () => {}
    const listener = () => {
      news = true
      wake()
    }
    this.#listeners.add(listener)
    const end = Date.now() + TIMEOUT_MS
    const timer = setTimeout(listener, TIMEOUT_MS)
    try {
      for (;;) {
        news = false
        const rows = await screen()
        if (holds(expected, rows)) return
        if (Date.now() >= end)
          throw new Error(`tmux never showed ${String(expected)}:\n${rows.join('\n')}`)
        if (!news)
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    } finally {
      clearTimeout(timer)
      this.#listeners.delete(listener)
    }
  }

  #reply(): Promise<string[]> {
    return new Promise((resolve, reject) => {
      this.#replies.push({ resolve, reject })
    })
  }

  #take(line: string): void {
    if (this.#rows !== undefined) return this.#inReply(line, this.#rows)
    if (line.startsWith('%begin ')) this.#rows = []
    else {
      if (line.startsWith(OUTPUT)) this.printed += line.slice(line.indexOf(' ', OUTPUT.length) + 1)
      for (const listener of this.#listeners) listener()
    }
  }

  #inReply(line: string, rows: string[]): void {
    const isError = line.startsWith('%error ')
    if (!isError && !line.startsWith('%end ')) return void rows.push(line.trimEnd())
    this.#rows = undefined
    const reply = this.#replies.shift()
    if (isError) reply?.reject(new Error(rows.join('\n')))
    else reply?.resolve(rows)
  }
}

function holds(expected: Parameters<TmuxWindow['until']>[0], rows: readonly string[]): boolean {
  if (typeof expected === 'function') return expected(rows)
  const text = rows.join('\n')
  return typeof expected === 'string' ? text.includes(expected) : expected.test(text)
}
