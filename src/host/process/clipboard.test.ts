import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { readClipboard, type ClipboardParts } from './clipboard.ts'

const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0\xff', 'latin1')

/** A system with these programs, each a shell script. */
async function system(
  scripts: Readonly<Record<string, string>>,
): Promise<Required<Pick<ClipboardParts, 'find'>>> {
  const folder = await freshFolder()
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(folder, name), 0o755)
  }
  const has = new Set(Object.keys(scripts))
  return { find: async (name) => (has.has(name) ? join(folder, name) : undefined) }
}

const PRINT_PNG = String.raw`printf '\211PNG\r\n\032\n\000\377'`
const linux = { platform: 'linux', limit: 1_000 } as const

test('reads an image from a Wayland clipboard, even when text is offered too', async () => {
  const { find } = await system({
    'wl-paste': `case "$*" in
      --list-types) printf 'text/plain\\nimage/jpeg\\nimage/png\\n';;
      '--no-newline --type image/png') ${PRINT_PNG};;
      *) exit 1;;
    esac`,
  })
  const read = await readClipboard({ ...linux, find, env: { WAYLAND_DISPLAY: 'wayland-0' } })
  expect(read).toEqual({ ok: true, value: PNG })
})

test('reads text when no image is offered', async () => {
  const { find } = await system({
    'wl-paste': `case "$*" in --list-types) echo text/plain;; --no-newline) printf häfen;; esac`,
    xclip: `case "$*" in *TARGETS) echo UTF8_STRING;; *UTF8_STRING) printf ropes;; *) exit 1;; esac`,
  })
  const wayland = await readClipboard({ ...linux, find, env: { WAYLAND_DISPLAY: 'wayland-0' } })
  expect(wayland).toEqual({ ok: true, value: Buffer.from('häfen') })
  const x11 = await readClipboard({ ...linux, find, env: { DISPLAY: ':0' } })
  expect(x11).toEqual({ ok: true, value: Buffer.from('ropes') })
})

test('requests an image from an X11 clipboard by its type', async () => {
  const { find } = await system({
    xclip: `case "$*" in *TARGETS) printf 'TIMESTAMP\\nimage/png\\n';; *image/png) ${PRINT_PNG};; esac`,
  })
  const read = await readClipboard({ ...linux, find, env: { DISPLAY: ':0' } })
  expect(read).toEqual({ ok: true, value: PNG })
})

test('on macOS decodes the hex image of osascript, and falls back to text', async () => {
  const env = {}
  const both = await system({
    osascript: `printf '«data PNGf${PNG.toString('hex').toUpperCase()}»\\n'`,
    pbpaste: 'printf never',
  })
  const darwin = { platform: 'darwin', limit: 1_000, env } as const
  expect(await readClipboard({ ...darwin, ...both })).toEqual({ ok: true, value: PNG })
  const text = await system({ osascript: 'exit 1', pbpaste: 'printf ropes' })
  const read = await readClipboard({ ...darwin, ...text })
  expect(read).toEqual({ ok: true, value: Buffer.from('ropes') })
})

test('in WSL reads the clipboard of Windows, whatever else there is', async () => {
  const { find } = await system({
    'powershell.exe': `case "$*" in '-NoProfile -NonInteractive -Sta -EncodedCommand '*) ;; *) exit 1;; esac
      printf '${PNG.toString('base64')}\\r\\n'`,
    'wl-paste': 'printf never',
  })
  const env = { WSL_DISTRO_NAME: 'Debian', WAYLAND_DISPLAY: 'wayland-0' }
  expect(await readClipboard({ ...linux, find, env })).toEqual({ ok: true, value: PNG })
  const empty = await system({ 'powershell.exe': String.raw`printf '\r\n'` })
  expect(await readClipboard({ ...linux, ...empty, env })).toMatchObject({
    ok: false,
    error: { kind: 'not_found' },
  })
  const none = { env: { WSL_DISTRO_NAME: 'Debian' }, find: async () => undefined }
  expect(await readClipboard({ ...linux, ...none })).toMatchObject({
    error: { kind: 'unreadable', next_actions: [{ action: expect.stringContaining('a file') }] },
  })
})

test('what PowerShell runs takes an image before text', async () => {
  const { find } = await system({ 'powershell.exe': 'printf %s "$5" | base64' })
  const env = { WSL_DISTRO_NAME: 'Debian' }
  const read = await readClipboard({ ...linux, limit: 10_000, find, env })
  const script = read.ok ? Buffer.from(read.value.toString(), 'base64').toString('utf16le') : ''
  expect(script).toMatch(/GetImage[^]*ImageFormat\]::Png[^]*else[^]*GetText/)
})

test('reads no more than the limit from an endless program', async () => {
  const { find } = await system({ 'wl-paste': 'while :; do printf 0123456789; done' })
  const read = await readClipboard({
    ...linux,
    limit: 15,
    find,
    env: { WAYLAND_DISPLAY: 'wayland-0' },
  })
  expect(read).toEqual({ ok: true, value: Buffer.from('012345678901234') })
})

test('a program that hangs is killed, and the clipboard counts as empty', async () => {
  const { find } = await system({ xclip: 'while :; do sleep 60; done' })
  const read = await readClipboard({ ...linux, find, env: { DISPLAY: ':0' }, wallMs: 50 })
  expect(read).toMatchObject({ ok: false, error: { kind: 'not_found' } })
})

test('without a display or a program the error says what is missing', async () => {
  const find = async () => undefined
  const none = await readClipboard({ ...linux, find, env: {} })
  expect(none).toMatchObject({
    ok: false,
    error: { kind: 'unreadable', details: { reason: 'no_clipboard' } },
  })
  const both = { WAYLAND_DISPLAY: 'wayland-0', DISPLAY: ':0' }
  expect(await readClipboard({ ...linux, find, env: both })).toMatchObject({
    ok: false,
    error: {
      kind: 'unreadable',
      details: { reason: 'no_program', programs: ['wl-paste', 'xclip'] },
      next_actions: [{ action: 'Install wl-clipboard or xclip.' }],
    },
  })
})
