import { expect, test } from 'vitest'
import { binaryKind } from './magic-bytes.ts'

test('known magic bytes are recognised', () => {
  const kinds = {
    '\x89PNG\r\n\x1a\n....': 'a PNG image',
    '\xff\xd8\xff\xe0': 'a JPEG image',
    'RIFF\x10\0\0\0WEBPVP8 ': 'a WebP image',
    '%PDF-1.7\n': 'a PDF document',
    '\0\0\0\x18ftypmp42': 'a video (MP4 or similar)',
    '\xff\xfeh\0i\0': 'text in UTF-16',
    'text\0and a NUL': 'binary data',
  }
  for (const [letters, kind] of Object.entries(kinds)) {
    expect(binaryKind(Buffer.from(letters, 'latin1'))).toBe(kind)
  }
})

test('text is text, even in an old encoding or if it mentions a format', () => {
  for (const text of ['', 'plain', 'see GIF89a and %PDF-', 'caf\xe9', '\xef\xbb\xbfwith a mark']) {
    expect(binaryKind(Buffer.from(text, 'latin1'))).toBeUndefined()
  }
})
