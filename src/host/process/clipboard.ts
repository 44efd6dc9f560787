import { tmpdir } from 'node:os'
import process from 'node:process'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { runProgram } from './process.ts'
import { systemProgram } from './system-program.ts'

/** What is to be known of the system, so that tests can say it. */
export interface ClipboardParts {
  readonly env: Readonly<Record<string, string | undefined>>
  /** At most so many bytes are taken; whoever needs to know that there are more asks for one more. */
  readonly limit: number
  readonly platform?: string
  readonly find?: (name: string) => Promise<string | undefined>
  readonly wallMs?: number
}

/**
 * What a person copied last: an image if there is one, else text. `unreadable` where the system has no clipboard or no
 * program to read it with, `not_found` where it is empty.
 */
export async function readClipboard(parts: ClipboardParts): Promise<Result<Buffer>> {
  const { env, platform = process.platform, find = systemProgram } = parts
  const ways = waysOf(platform, env)
  if (ways.length === 0) return noClipboard()
  const reader: Reader = (program, args) => output(parts, [program, ...args])
  let found = false
  for (const { name, read } of ways) {
    const program = await find(name)
    if (program === undefined) continue
    found = true
    const bytes = await read((...args) => reader(program, args))
    if (bytes !== undefined && bytes.length > 0) return ok(bytes.subarray(0, parts.limit))
  }
  return found ? failed('not_found', 'The clipboard holds no image and no text.') : noProgram(ways)
}

/** Runs the program; `undefined` when it failed, took too long, or could not be started. */
type Reader = (program: string, args: readonly string[]) => Promise<Buffer | undefined>
type Run = (...args: readonly string[]) => Promise<Buffer | undefined>

/** A program that reads a clipboard, and how it is asked. */
interface Way {
  readonly name: string
  /** What has to be installed for it; absent for what every such system has. */
  readonly package?: string
  readonly read: (run: Run) => Promise<Buffer | undefined>
}

function waysOf(platform: string, env: ClipboardParts['env']): readonly Way[] {
  if (platform === 'darwin') return MACOS
  return [
    ...((env['WAYLAND_DISPLAY'] ?? '') === '' ? [] : [WAYLAND]),
    ...((env['DISPLAY'] ?? '') === '' ? [] : [X11]),
  ]
}

/** In this order, where a clipboard offers more than one. */
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']

const WAYLAND: Way = {
  name: 'wl-paste',
  package: 'wl-clipboard',
  read: async (run) => {
    const image = await imageTypeOf(run('--list-types'))
    return image === undefined ? run('--no-newline') : run('--no-newline', '--type', image)
  },
}

const X11: Way = {
  name: 'xclip',
  package: 'xclip',
  read: async (run) => {
    const paste = (type: string) => run('-selection', 'clipboard', '-out', '-target', type)
    const image = await imageTypeOf(paste('TARGETS'))
    return paste(image ?? 'UTF8_STRING')
  },
}

const MACOS: readonly Way[] = [
  { name: 'pngpaste', read: (run) => run('-') },
  {
    name: 'osascript',
    read: async (run) => {
      const said = await run('-e', 'the clipboard as «class PNGf»')
      const hex = /^«data PNGf([0-9A-F]+)»\s*$/.exec(said?.toString('utf8') ?? '')?.[1]
      return hex === undefined ? undefined : Buffer.from(hex, 'hex')
    },
  },
  { name: 'pbpaste', read: (run) => run() },
]

async function imageTypeOf(listing: Promise<Buffer | undefined>): Promise<string | undefined> {
  const offered = (await listing)?.toString('utf8').split(/\s+/) ?? []
  return IMAGE_TYPES.find((type) => offered.includes(type))
}

const WALL_MS = 5_000
/** Such a program writes an image as twice its bytes, with a little around it. */
const SPELT_OUT = 2
const AROUND = 64

async function output(
  { env, limit, platform, wallMs = WALL_MS }: ClipboardParts,
  argv: readonly [string, ...string[]],
): Promise<Buffer | undefined> {
  const most = (platform ?? process.platform) === 'darwin' ? limit * SPELT_OUT + AROUND : limit
  const enough = new AbortController()
  const pieces: Buffer[] = []
  let length = 0
  const ended = await runProgram({
    argv,
    folder: tmpdir(),
    env: handedOn(env),
    wallMs,
    signal: enough.signal,
    errors: 'apart',
    onOutput: (chunk) => {
      if (length < most) pieces.push(Buffer.from(chunk))
      length += chunk.length
      if (length >= most) enough.abort()
    },
  })
  const whole = ended.ok && (ended.value.code === 0 || (length >= most && !ended.value.timedOut))
  return whole ? Buffer.concat(pieces).subarray(0, most) : undefined
}

/** What such a program needs to find the clipboard, and to speak UTF-8. */
const NEEDED = ['WAYLAND_DISPLAY', 'XDG_RUNTIME_DIR', 'DISPLAY', 'XAUTHORITY', 'HOME', 'TMPDIR']

function handedOn(env: ClipboardParts['env']): Record<string, string> {
  const needed = NEEDED.flatMap((name) => {
    const value = env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(needed), LC_ALL: 'en_US.UTF-8' }
}

function noClipboard(): Failed {
  return failed(
    'unreadable',
    'There is no clipboard here: neither Wayland nor X11 is running.',
    { reason: 'no_clipboard' },
    [{ action: 'Save what you copied to a file, and attach the file.' }],
  )
}

function noProgram(ways: readonly Way[]): Failed {
  const packages = ways.flatMap((way) => (way.package === undefined ? [] : [way.package]))
  return failed(
    'unreadable',
    'The clipboard cannot be read: no program for it is installed.',
    { reason: 'no_program', programs: ways.map(({ name }) => name) },
    [{ action: `Install ${packages.join(' or ')}.` }],
  )
}
