import { expect, test } from 'vitest'
import { buildPdf } from '../../../test/support/resources/build-pdf.ts'
import { pdfWords } from './words.ts'

test('pages and the words on them are counted', async () => {
  const pdf = buildPdf(['one two three\nfour (five)', '', 'six'])
  expect(await pdfWords(pdf)).toEqual({ kind: 'pdf', pages: 3, words: 6 })
})

test('bytes around the document do not matter', async () => {
  const pdf = Buffer.concat([Buffer.from('\n'), buildPdf(['one two']), Buffer.from('\n\n')])
  expect(await pdfWords(pdf)).toEqual({ kind: 'pdf', pages: 1, words: 2 })
})

test.each([
  ['encrypted', 'opens with a password only', buildPdf(['one'], { encrypted: true })],
  ['corrupt', 'is cut off', buildPdf(['one']).subarray(0, 300)],
  ['corrupt', 'goes on as something else', Buffer.from(`%PDF-1.4\n${'no'.repeat(500)}`)],
  ['corrupt', 'is nothing but its beginning', Buffer.from('%PDF-1.4')],
])('%s is reported for a document that %s', async (code, _, pdf) => {
  expect(await pdfWords(pdf)).toMatchObject({ kind: 'unreadable', code })
})

test('reading a slow document stops at the time limit', async () => {
  const operators = Buffer.from(`BT /F1 12 Tf ${'(a) Tj T* '.repeat(1_000_000)} ET`)
  const pdf = buildPdf(['one'], { operators })
  expect(await pdfWords(pdf, { ms: 1000 })).toMatchObject({ kind: 'unreadable', code: 'timeout' })
})
