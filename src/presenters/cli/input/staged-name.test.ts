import { expect, test } from 'vitest'
import { stagedName } from './staged-name.ts'

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
