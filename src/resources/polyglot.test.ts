import { expect, test } from 'vitest'
import { TINY_IMAGES } from '../../test/support/resources/tiny-images.ts'
import { buildPdf } from '../../test/support/resources/build-pdf.ts'
import { buildZip } from '../../test/support/resources/build-zip.ts'
import { endsAsZip, isPdfInText, secondFormat } from './polyglot.ts'

const { png } = TINY_IMAGES
const CONTENT = Buffer.from('hello')

function withZip(before: Buffer, after = ''): Buffer {
  return Buffer.concat([before, buildZip('a', CONTENT, before.length), Buffer.from(after)])
}

test.each([
  ['an archive', withZip(png)],
  ['an archive with offsets from its own start', Buffer.concat([png, withZip(png.subarray(0, 0))])],
  ['an archive and unused bytes', withZip(png, 'x'.repeat(60_000))],
  [
    'an archive of many files',
    Buffer.concat([
      png,
      Buffer.from('PK\x06\x07'),
      Buffer.alloc(16),
      Buffer.from('PK\x05\x06'),
      Buffer.alloc(18),
    ]),
  ],
  ['a RAR archive', Buffer.concat([png, Buffer.from('..Rar!\x1a\x07\x01\0')])],
])('an image followed by %s counts as two files', (_, bytes) => {
  expect(secondFormat(bytes, png.length)).toMatch(/archive/)
})

test('a format whose magic bytes are not at the start is found', () => {
  const tar = Buffer.concat([png, Buffer.alloc(1000)])
  tar.write('ustar', 257)
  const disc = Buffer.alloc(40_000)
  disc.write('CD001', 0x8001)
  expect([secondFormat(tar, png.length), secondFormat(disc, 0)]).toEqual([
    'a tar archive',
    'a disc image (ISO 9660)',
  ])
})

test('an image that merely contains the magic bytes of another format is accepted', () => {
  const letters = ['PK\x05\x06', `PK\x05\x06${'\0'.repeat(18)}`, 'PK\x01\x02', 'ustar', 'CD001']
  const one = letters.map((some) =>
    secondFormat(Buffer.concat([png, Buffer.from(some)]), png.length),
  )
  expect(one).toEqual(letters.map(() => undefined))
  expect(secondFormat(Buffer.concat([png, Buffer.alloc(2000), Buffer.from('%PDF-1.4')]), 99)).toBe(
    undefined,
  )
})

test('an archive embedded in a PDF is not a second format, but one after it is', () => {
  const pdf = buildPdf(['one'])
  const inside = Buffer.concat([
    pdf.subarray(0, 100),
    buildZip('a', CONTENT, 100),
    pdf.subarray(100),
  ])
  expect(
    [inside, pdf, withZip(pdf), withZip(pdf, '\n')].map((bytes) => endsAsZip(bytes, '%%EOF')),
  ).toEqual([false, false, true, true])
})

test('an archive whose comment extends to the end of a PDF is a second format', () => {
  const pdf = buildPdf(['one'])
  const zip = buildZip('a', CONTENT, 0)
  zip.writeUInt16LE(pdf.length, zip.length - 2)
  expect(endsAsZip(Buffer.concat([zip, pdf]), '%%EOF')).toBe(true)
})

test('text is a PDF if it starts like one, or nearly starts and ends like one', () => {
  const about = 'A PDF begins with %PDF-1.4 and has a startxref.'
  const texts = ['%PDF-1.4', '\ufeff\n%PDF-1.7\n', `x\n${buildPdf(['one']).toString('latin1')}`]
  expect(texts.map((text) => isPdfInText(Buffer.from(text)))).toEqual([true, true, true])
  const others = ['PDF-1.4', `${about}${'.'.repeat(1024)}`, '%PDF-', `${'.'.repeat(1024)}%PDF-1.4`]
  expect(others.map((text) => isPdfInText(Buffer.from(text)))).toEqual([false, false, false, false])
})
