import { tmpdir } from 'node:os'
import process from 'node:process'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import { runProgram } from './process.ts'
import { systemProgram } from './system-program.ts'

/** The system facts that tests replace. */
export interface ClipboardParts {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The maximum number of bytes to read. To detect that there is more, ask for one byte more. */
  readonly limit: number
  readonly platform?: string
  readonly find?: (name: string) => Promise<string | undefined>
  readonly wallMs?: number
}

/**
 * The clipboard content: an image if there is one, else text. `unreadable` if the system has no clipboard or no program to
 * read it, `not_found` if it is empty.
 */
export async function readClipboard(parts: ClipboardParts): Promise<Result<Buffer>> {
  const { env, platform = process.platform, find = systemProgram } = parts
  const ways = waysOf(platform, env)
  if (ways.length === 0) return noClipboard()
  let found = false
  for (const { name, factor, wallMs = WALL_MS, read } of ways) {
    const program = await find(name)
    if (program === undefined) continue
    found = true
    const most = factor === undefined ? parts.limit : parts.limit * factor + AROUND
    const limits = { most, wallMs: parts.wallMs ?? wallMs }
    const bytes = await read((...args) => output(env, limits, [program, ...args]))
    if (bytes !== undefined && bytes.length > 0) return ok(bytes.subarray(0, parts.limit))
  }
  return found
    ? failed('not_found', 'The clipboard contains no image and no text.')
    : noProgram(ways)
}

/** Runs the program; `undefined` when it failed, took too long, or could not be started. */
type Run = (...args: readonly string[]) => Promise<Buffer | undefined>

/** A program that reads a clipboard, and how to call it. */
interface Way {
  readonly name: string
  /** The package to install; absent for programs that every such system has. */
  readonly package?: string
  /** It prints text that is this many times as long as the content. */
  readonly factor?: number
  /** 5 s by default. */
  readonly wallMs?: number
  readonly read: (run: Run) => Promise<Buffer | undefined>
}

function waysOf(platform: string, env: ClipboardParts['env']): readonly Way[] {
  if (platform === 'darwin') return MACOS
  const isSet = (name: string) => (env[name] ?? '') !== ''
  return [
    // Its Wayland and X11 offer an image of Windows only as a bitmap, which cannot be attached.
    ...(isSet('WSL_DISTRO_NAME') ? [WINDOWS] : []),
    ...(isSet('WAYLAND_DISPLAY') ? [WAYLAND] : []),
    ...(isSet('DISPLAY') ? [X11] : []),
  ]
}

/** In order of preference. */
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

/** Prints Base64, because the output of PowerShell is text. */
const POWERSHELL = `
Add-Type -AssemblyName System.Windows.Forms, System.Drawing
$image = [Windows.Forms.Clipboard]::GetImage()
if ($image) {
  $bytes = New-Object IO.MemoryStream
  $image.Save($bytes, [Drawing.Imaging.ImageFormat]::Png)
  [Convert]::ToBase64String($bytes.ToArray())
} else {
  [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes([Windows.Forms.Clipboard]::GetText()))
}`

const WINDOWS: Way = {
  name: 'powershell.exe',
  factor: 2,
  // Its first start after that of Windows takes seconds.
  wallMs: 15_000,
  read: async (run) => {
    const script = Buffer.from(POWERSHELL, 'utf16le').toString('base64')
    const printed = await run('-NoProfile', '-NonInteractive', '-Sta', '-EncodedCommand', script)
    return printed === undefined ? undefined : Buffer.from(printed.toString('latin1'), 'base64')
  },
}

const MACOS: readonly Way[] = [
  { name: 'pngpaste', read: (run) => run('-') },
  {
    name: 'osascript',
    factor: 2,
    read: async (run) => {
      const printed = await run('-e', 'the clipboard as «class PNGf»')
      const hex = /^«data PNGf([0-9A-F]+)»\s*$/.exec(printed?.toString('utf8') ?? '')?.[1]
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
/** Around the text that represents the content. */
const AROUND = 64

async function output(
  env: ClipboardParts['env'],
  { most, wallMs }: { readonly most: number; readonly wallMs: number },
  argv: readonly [string, ...string[]],
): Promise<Buffer | undefined> {
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

/** Variables that these programs need to find the clipboard. */
const NEEDED = [
  'WAYLAND_DISPLAY',
  'XDG_RUNTIME_DIR',
  'DISPLAY',
  'XAUTHORITY',
  'HOME',
  'TMPDIR',
  'WSL_INTEROP',
]

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
    'No clipboard available: neither Wayland nor X11 is running.',
    { reason: 'no_clipboard' },
    [{ action: ATTACH_A_FILE }],
  )
}

const ATTACH_A_FILE = 'Save the content to a file and attach the file.'

function noProgram(ways: readonly Way[]): Failed {
  const packages = ways.flatMap((way) => (way.package === undefined ? [] : [way.package]))
  return failed(
    'unreadable',
    'Cannot read the clipboard: no clipboard program is installed.',
    { reason: 'no_program', programs: ways.map(({ name }) => name) },
    [{ action: packages.length > 0 ? `Install ${packages.join(' or ')}.` : ATTACH_A_FILE }],
  )
}
