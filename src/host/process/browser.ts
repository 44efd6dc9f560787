import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import process from 'node:process'
import { systemProgram } from './system-program.ts'

/** The system facts that tests replace. */
export interface BrowserParts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform?: string
  readonly find?: (name: string) => Promise<string | undefined>
}

/**
 * Opens a file in the browser of the person, and returns whether a program was started for it. None is started over SSH or
 * without a display. Does not wait for the browser, which continues after this process.
 */
export async function openInBrowser(path: string, parts: BrowserParts): Promise<boolean> {
  const { env, platform = process.platform, find = systemProgram } = parts
  const name = openerOf(platform, env)
  const program = name === undefined ? undefined : await find(name)
  if (program === undefined) return false
  const child = spawn(program, [path], {
    cwd: tmpdir(),
    env: handedOn(env),
    detached: true,
    stdio: 'ignore',
  })
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}

function openerOf(platform: string, env: BrowserParts['env']): string | undefined {
  const has = (...names: readonly string[]) => names.some((name) => (env[name] ?? '') !== '')
  if (has('SSH_CONNECTION', 'SSH_TTY')) return undefined
  if (platform === 'darwin') return 'open'
  return has('DISPLAY', 'WAYLAND_DISPLAY') ? 'xdg-open' : undefined
}

/** What a desktop program needs. API keys are not among it. */
const NEEDED =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|LANG|LC_\w+|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|BROWSER|DESKTOP_SESSION|(XDG|DBUS|KDE|GNOME)_\w+)$/

function handedOn(env: BrowserParts['env']): Record<string, string> {
  const needed = Object.entries(env).filter(([name]) => NEEDED.test(name))
  return Object.fromEntries(
    needed.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
