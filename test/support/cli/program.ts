import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { bundleScript } from '../host/bundle-script.ts'
import { freshFolder } from '../host/folder.ts'

/** The program as a real process, for tests of signals, standard streams and users. */
export interface Started {
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
  /** Resolves when standard output or error contains `text`; rejects if the program exits before. */
  readonly waitFor: (text: string) => Promise<void>
}

export interface StartOptions {
  /** The program runs in `<root>/workspace`, with `<root>/home` as its home. */
  readonly root: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly uid?: number
  /** `/dev/null` by default; with `pipe` the test writes to it and ends it. */
  readonly stdin?: 'ignore' | 'pipe'
  /** A command that runs the program, such as `unshare --mount`. */
  readonly under?: readonly string[]
  /** Bundled into several files of CommonJS like the built program, instead of one module. */
  readonly inParts?: boolean
  /** Takes the end of the program. Default: the end of the test. */
  readonly atEnd?: (kill: () => void) => void
}

/** An unprivileged user. */
export const NOBODY = 65_534

/** The reason why the program cannot be started as `nobody` here, if any. */
export async function whyNotAsNobody(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root can start a process as another user'
  const native = createRequire(import.meta.url).resolve('fs-native-extensions')
  const can = promisify(execFile)(process.execPath, ['--eval', `require('${native}')`], {
    cwd: '/',
    uid: NOBODY,
    gid: NOBODY,
  })
  return can.then(
    () => undefined,
    () => 'other users cannot read the packages that the program needs',
  )
}

const programs = new Map<boolean, Promise<string>>()

/** Starts the program, bundled once for all tests of a file. It is killed at the end of the test, by default. */
export async function startProgram(
  options: StartOptions,
  argv: readonly string[],
): Promise<Started> {
  const { root, env = {}, uid, under = [], stdin = 'ignore', inParts = false } = options
  const { atEnd = onTestFinished } = options
  const bundling =
    programs.get(inParts) ??
    freshFolder().then((folder) =>
      bundleScript(new URL('../../../bin/hawser.ts', import.meta.url), folder, { inParts }),
    )
  programs.set(inParts, bundling)
  const program = await bundling
  if (uid !== undefined) await openTo(dirname(program), root)
  const [command = process.execPath, ...args] = [...under, process.execPath, program, ...argv]
  const child = spawn(command, args, {
    cwd: join(root, 'workspace'),
    env: { PATH: process.env['PATH'], HAWSER_HOME: join(root, 'home'), ...env },
    stdio: [stdin, 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  atEnd(() => void child.kill('SIGKILL'))
  child.stdin?.on('error', () => {})
  const text = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  const gather = (name: 'stdout' | 'stderr') => {
    child[name]?.setEncoding('utf8').on('data', (piece: string) => {
      text[name] += piece
      for (const look of waiting) look()
    })
  }
  gather('stdout')
  gather('stderr')
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal }))
  })
  return {
    child,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    ended,
    waitFor: (expected) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!`${text.stdout}${text.stderr}`.includes(expected)) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        void ended.then(() =>
          reject(new Error(`exited without printing ${expected}: ${text.stderr}`)),
        )
        look()
      }),
  }
}

/** Lets other users enter the folders of the tests, which only their owner can by default; they still cannot list them. */
async function openTo(...folders: readonly string[]): Promise<void> {
  const root = process.env['HAWSER_TEST_ROOT'] ?? ''
  await Promise.all([root, ...folders].map((folder) => chmod(folder, 0o711)))
}
