import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { sampleEvents } from '../../../../test/support/history/sample-events.ts'
import type { AttachmentInput } from '../../../model/attachment.ts'
import { failed, ok } from '../../../model/errors.ts'
import { SessionResources } from '../../../history/session-resources.ts'
import type { WholeEvent } from '../../../model/events/event.ts'
import {
  attachmentNamed,
  attachmentsNamed,
  enclosedIn,
  stagedName,
} from './attachment-arguments.ts'

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

function sources(stdin: Buffer | undefined) {
  return {
    cwd: () => '/here',
    clipboard: async () => ok(Buffer.from('copied')),
    ...(stdin === undefined
      ? {}
      : {
          stdin: {
            isTTY: false,
            all: async () => stdin,
            upTo: async (limit: number) => stdin.subarray(0, limit),
            keys: () => () => {},
            interrupt: () => {},
          },
        }),
  }
}

test.each([
  ['a.png', { from: 'path', path: '/here/a.png', given: 'a.png' }],
  ['../b/a.png', { from: 'path', path: '/b/a.png', given: '../b/a.png' }],
  ['/x/a.png', { from: 'path', path: '/x/a.png', given: '/x/a.png' }],
  ['./clipboard', { from: 'path', path: '/here/clipboard', given: './clipboard' }],
  ['c:pictures', { from: 'path', path: '/here/c:pictures', given: 'c:pictures' }],
  ['https://example.com/a.png', { from: 'link', uri: 'https://example.com/a.png' }],
  ['file:///x/a.png', { from: 'link', uri: 'file:///x/a.png' }],
  ['clipboard', { from: 'bytes', name: 'clipboard.txt', bytes: Buffer.from('copied') }],
  ['-', { from: 'bytes', name: 'stdin.png', bytes: PNG }],
])('%s resolves to the right attachment', async (named, input) => {
  expect(await attachmentNamed(sources(PNG), named)).toEqual({ ok: true, value: input })
})

test('an oversized standard input is read up to one byte more than the limit', async () => {
  const attachment = await attachmentNamed(sources(Buffer.alloc(11 * 1024 * 1024, 'a')), '-')
  expect(attachment).toMatchObject({ ok: true, value: { bytes: { length: 10 * 1024 * 1024 + 1 } } })
})

test('an unreadable attachment is an error before anything starts', async () => {
  const away = { ...sources(PNG), clipboard: async () => failed('unreadable', 'no clipboard') }
  const lost = {
    ...sources(PNG),
    cwd: () => {
      throw new Error('gone')
    },
  }
  const kinds = [
    await attachmentsNamed(away, ['a.png', 'clipboard']),
    await attachmentsNamed(sources(PNG), ['-', '-']),
    await attachmentsNamed(sources(undefined), ['-']),
    await attachmentsNamed(sources(PNG), ['']),
    await attachmentsNamed(lost, ['a.png']),
  ].map((result) => (result.ok ? 'ok' : result.error.kind))
  expect(kinds).toEqual(['unreadable', 'invalid_args', 'invalid_args', 'invalid_args', 'not_found'])
})

/** A Session in which `@img1` was attached. */
function session() {
  const [descriptor] = sampleEvents().descriptors
  const message = { type: 'user_message', seq: 1, data: { resources: [descriptor] } }
  const known = new SessionResources([message as unknown as WholeEvent])
  return { resourceNamed: async (handle: string) => ok(known.byHandle(handle)) }
}

test('@ words resolve to handles of the Session, attachments and mentions; everything else is text', async () => {
  const folder = await freshFolder()
  await mkdir(join(folder, 'folder.png'))
  await writeFile(join(folder, 'a b.png'), '')
  await writeFile(join(folder, 'img1.png'), '')
  await writeFile(join(folder, 'given.txt'), '')
  await writeFile(join(folder, 'Makefile'), '')
  await symlink('img1.png', join(folder, 'link.png'))
  const given: AttachmentInput = { from: 'path', path: join(folder, 'given.txt') }
  const text =
    '@img1, @img2: @img1.png @./img1.png @"a b.png" @given.txt @link.png @folder.png @gone.png @Makefile. @x'
  const enclosed = await enclosedIn(text, session(), [given], [folder])
  expect(enclosed).toEqual({
    attachments: [
      given,
      { from: 'path', path: join(folder, 'img1.png'), given: 'img1.png' },
      { from: 'path', path: join(folder, 'a b.png'), given: 'a b.png' },
      // The resolver reports why a link is refused.
      { from: 'path', path: join(folder, 'link.png'), given: 'link.png' },
    ],
    mentions: [
      { path: join(folder, 'folder.png'), given: 'folder.png' },
      { path: join(folder, 'gone.png'), given: 'gone.png' },
      { path: join(folder, 'Makefile'), given: 'Makefile' },
    ],
    views: ['@img1'],
    notes: ['No Resource @img2 in this Session; sent as text.', 'No file @x here; sent as text.'],
  })
})

test.each([
  ['a PNG image', Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1'), 'stdin.png'],
  ['a JPEG image', Buffer.from('\xff\xd8\xff\xe0rest', 'latin1'), 'stdin.jpg'],
  ['a GIF image of 1987', Buffer.from('GIF87a...'), 'stdin.gif'],
  ['a GIF image of 1989', Buffer.from('GIF89a...'), 'stdin.gif'],
  ['a WebP image', Buffer.from('RIFF\x01\x02\x03\x04WEBPVP8 ', 'latin1'), 'stdin.webp'],
  ['a PDF document', Buffer.from('%PDF-1.7\n'), 'stdin.pdf'],
  ['text in UTF-8', Buffer.from('häfen\n'), 'stdin.txt'],
  ['text in Latin-1', Buffer.from('h\xe4fen\n', 'latin1'), 'stdin.txt'],
  ['text in UTF-16', Buffer.from('\ufeffropes', 'utf16le'), 'stdin.txt'],
  ['nothing at all', Buffer.alloc(0), 'stdin.txt'],
  ['a ZIP archive', Buffer.from('PK\x03\x04', 'latin1'), 'stdin.bin'],
  ['a RIFF file that is not an image', Buffer.from('RIFF....WAVEfmt '), 'stdin.bin'],
  ['bytes that are not text', Buffer.from([1, 0, 2]), 'stdin.bin'],
])('%s gets a name with its type', (_what, bytes, name) => {
  expect(stagedName('stdin', bytes)).toBe(name)
})
