import { expect, test } from 'vitest'
import { buildPdf } from '../../../test/support/resources/build-pdf.ts'
import { LIMITS } from '../../model/limits.ts'
import { pdfText } from './pdf-text.ts'

const PDF = buildPdf(['one two\nthree (3)', '', 'the last'])

test('the words of all pages are returned, line by line', async () => {
  const result = await pdfText(PDF)
  expect(result).toEqual({
    ok: true,
    value: {
      bytes: expect.any(Buffer),
      media_type: 'text/plain',
      params: {
        encoder: expect.stringMatching(/^unpdf \d+\.\d+\.\d+$/),
        format: 'text',
        pages: { from: 1, to: 3 },
      },
    },
  })
  expect(linesOf(result)).toEqual([
    '[Page 1 of 3]',
    'one two',
    'three (3)',
    '[Page 2 of 3: no text found]',
    '[Page 3 of 3]',
    'the last',
    '',
  ])
})

test('requested pages are returned alone', async () => {
  const result = await pdfText(PDF, { from: 3, to: 3 })
  expect(result).toMatchObject({ value: { params: { pages: { from: 3, to: 3 } } } })
  expect(linesOf(result)).toEqual(['[Page 3 of 3]', 'the last', ''])
})

test.each([
  [1, 4],
  [4, 4],
  [0, 2],
  [3, 2],
])('pages that a document of three does not have are refused: %d to %d', async (from, to) => {
  expect(await pdfText(PDF, { from, to })).toMatchObject({
    ok: false,
    error: { kind: 'invalid_args', details: { pages: 3 } },
  })
})

test('the same document and pages give the same bytes', async () => {
  expect(await pdfText(Buffer.from(PDF))).toEqual(await pdfText(PDF))
})

test('a long document is cut at a page, and continuing from there gives the rest', async () => {
  const pages = Array.from(
    { length: 40 },
    (_, at) => `page number ${at + 1}\n${'word '.repeat(60)}`,
  )
  const pdf = buildPdf(pages)
  const numbers: string[] = []
  let from = 1
  while (from <= 40) {
    const result = await pdfText(pdf, { from, to: 40 }, { most: 6000 })
    if (!result.ok) throw new Error(result.error.message)
    expect(result.value.bytes.length).toBeLessThanOrEqual(6000)
    numbers.push(...(result.value.bytes.toString().match(/^page number \d+$/gm) ?? []))
    from = (result.value.params.pages?.to ?? 40) + 1
  }
  expect(numbers).toEqual(pages.map((_, at) => `page number ${at + 1}`))
})

test('a damaged page is named, and hides no other', async () => {
  const pdf = buildPdf(['one', 'two', 'three'])
  // Object 8 is the content of the second page.
  const stream = pdf.indexOf('stream\n', pdf.indexOf('8 0 obj'))
  pdf.fill(0xff, stream + 17, stream + 21)
  expect(linesOf(await pdfText(pdf))).toEqual([
    '[Page 1 of 3]',
    'one',
    '[Page 2 of 3: cannot be read]',
    '[Page 3 of 3]',
    'three',
    '',
  ])
  expect(await pdfText(pdf, { from: 2, to: 2 })).toMatchObject({
    error: { kind: 'unreadable', details: { code: 'corrupt' } },
  })
})

test('an endless page is cut at the limit', async () => {
  const lines = Array.from({ length: 4000 }, (_, at) => {
    return `1 0 0 1 50 ${20 + ((at * 14) % 760)} Tm (${'a'.repeat(80)}) Tj`
  })
  const operators = Buffer.from(`BT /F1 8 Tf ${lines.join(' ')} ET`)
  const result = await pdfText(buildPdf([], { operators }))
  if (!result.ok) throw new Error(result.error.message)
  const { bytes } = result.value
  expect(bytes.length).toBeLessThanOrEqual(LIMITS.pdf_text_bytes)
  expect(bytes.length).toBeGreaterThan(LIMITS.pdf_text_bytes - 1000)
  expect(bytes.toString()).toMatch(/\n\[Omitted: the rest of page 1, because [^\n]+\]\n$/)
})

test.each([
  ['encrypted', 'opens with a password only', buildPdf(['one'], { encrypted: true })],
  ['corrupt', 'is cut off', buildPdf(['one']).subarray(0, 300)],
  ['corrupt', 'goes on as something else', Buffer.from(`%PDF-1.4\n${'no'.repeat(500)}`)],
  ['corrupt', 'has no page', buildPdf([])],
  ['corrupt', 'holds no bytes', Buffer.alloc(0)],
])('%s is reported for a document that %s', async (code, _, pdf) => {
  expect(await pdfText(pdf)).toMatchObject({
    ok: false,
    error: { kind: 'unreadable', details: { code } },
  })
})

test('reading a slow document stops at the time limit', async () => {
  const operators = Buffer.from(`BT /F1 12 Tf ${'(a) Tj T* '.repeat(1_000_000)} ET`)
  expect(await pdfText(buildPdf(['one'], { operators }), undefined, { ms: 1000 })).toMatchObject({
    error: { kind: 'unreadable', details: { code: 'timeout' } },
  })
})

/** The text without its first line. */
function linesOf(result: Awaited<ReturnType<typeof pdfText>>): string[] {
  return result.ok ? result.value.bytes.toString().split('\n').slice(1) : []
}
