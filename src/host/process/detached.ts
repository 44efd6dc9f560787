import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import process from 'node:process'
import { failed, ok, type Result } from '../../model/errors.ts'

const MOST_CHARACTERS = 64 * 1024

export interface DetachedOptions {
  /** The arguments of this program. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly folder: string
  /** A file for what it prints on standard error; created with mode 0600. */
  readonly errors: string
}

/**
 * Starts this program again, in a session of its own, so that it continues after this process and its terminal. Resolves to
 * the first line that it prints; `internal` if it ends before that.
 */
export async function startDetached({
  args,
  env,
  folder,
  errors,
}: DetachedOptions): Promise<Result<string>> {
  const [, script = ''] = process.argv
  const stderr = openSync(errors, 'a', 0o600)
  const child = spawn(process.execPath, [...process.execArgv, script, ...args], {
    cwd: folder,
    env: { ...env },
    detached: true,
    stdio: ['ignore', 'pipe', stderr],
  })
  closeSync(stderr)
  const line = await new Promise<string | undefined>((resolve) => {
    let text = ''
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      text = (text + piece).slice(0, MOST_CHARACTERS)
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')))
    })
    child.on('error', () => resolve(undefined)).on('close', () => resolve(undefined))
  })
  child.stdout?.destroy()
  child.unref()
  return line === undefined
    ? failed('internal', 'The program ended before it was ready.', { errors })
    : ok(line)
}
