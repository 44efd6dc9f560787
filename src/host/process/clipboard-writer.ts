import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import process from 'node:process'
import { systemProgram } from './system-program.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The system facts that tests replace. */
export interface ClipboardWriter {
  readonly env: Env
  readonly platform?: string
  readonly find?: (name: string) => Promise<string | undefined>
  readonly wallMs?: number
}

/** A program that writes a clipboard. */
interface Way {
  readonly name: string
  readonly args: readonly string[]
  /** It expects UTF-16 with a mark. */
  readonly isWide?: true
}

const WALL_MS = 5_000

/**
 * Writes text to the clipboard with the first program of this machine that can, and returns its name; `undefined` if none is
 * installed or all fail. Such a program may stay in the background, to own the clipboard; only its own start is awaited.
 */
export async function writeClipboard(
  text: string,
  { env, platform = process.platform, find = systemProgram, wallMs }: ClipboardWriter,
): Promise<string | undefined> {
  for (const { name, args, isWide } of waysOf(platform, env)) {
    const program = await find(name)
    if (program === undefined) continue
    const bytes = isWide === true ? Buffer.from(`\ufeff${text}`, 'utf16le') : Buffer.from(text)
    if (await accepts([program, ...args], bytes, env, wallMs ?? WALL_MS)) return name
  }
  return undefined
}

function waysOf(platform: string, env: Env): readonly Way[] {
  if (platform === 'darwin') return [{ name: 'pbcopy', args: [] }]
  const isSet = (name: string) => (env[name] ?? '') !== ''
  return [
    ...(isSet('WAYLAND_DISPLAY') ? [{ name: 'wl-copy', args: [] }] : []),
    ...(isSet('DISPLAY') ? [{ name: 'xclip', args: ['-selection', 'clipboard', '-in'] }] : []),
    ...(isSet('WSL_DISTRO_NAME') ? [{ name: 'clip.exe', args: [], isWide: true } as const] : []),
  ]
}

/** Variables that these programs need to find the clipboard. */
const NEEDED = [
  'WAYLAND_DISPLAY',
  'XDG_RUNTIME_DIR',
  'DISPLAY',
  'XAUTHORITY',
  'HOME',
  'WSL_INTEROP',
]

function accepts(
  [program, ...args]: readonly [string, ...string[]],
  bytes: Buffer,
  env: Env,
  wallMs: number,
): Promise<boolean> {
  const needed = NEEDED.flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const child = spawn(program, args, {
    // Its output would keep a pipe open for as long as it owns the clipboard.
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: tmpdir(),
    env: { ...Object.fromEntries(needed), LC_ALL: 'en_US.UTF-8' },
    timeout: wallMs,
  })
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
    child.stdin.once('error', () => resolve(false))
    child.stdin.end(bytes)
  })
}
