import { expect, test } from 'vitest'
import { virtualClock } from '../../../test/support/host/virtual-clock.ts'
import { buildPdf } from '../../../test/support/resources/build-pdf.ts'
import { pdfPages, pdfWords } from './pdf-facts.ts'

const clock = virtualClock()

test('pages are counted, whatever their content', async () => {
  const operators = Buffer.from('these are (no operators')
  expect(await pdfPages(buildPdf(['one', ''], { operators }), { clock })).toEqual({
    kind: 'pdf',
    pages: 3,
  })
})

test('a document that claims more pages than it has is counted correctly', async () => {
  const text = buildPdf(['one']).toString('latin1').replace('/Count 1', '/Count 9')
  expect(await pdfPages(Buffer.from(text, 'latin1'), { clock })).toEqual({ kind: 'pdf', pages: 1 })
})

test.each([
  ['encrypted', 'opens with a password only', buildPdf(['one'], { encrypted: true })],
  ['corrupt', 'has no pages', buildPdf([])],
])('the count of pages reports %s for a document that %s', async (code, _, pdf) => {
  expect(await pdfPages(pdf, { clock })).toMatchObject({ kind: 'unreadable', code })
})

test('an aborted document is not opened', async () => {
  const signal = AbortSignal.abort()
  expect(await pdfPages(buildPdf(['one']), { clock, signal })).toMatchObject({ code: 'timeout' })
  expect(clock.pending()).toEqual([])
})

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
])('the count of words reports %s for a document that %s', async (code, _, pdf) => {
  expect(await pdfWords(pdf)).toMatchObject({ kind: 'unreadable', code })
})

test('reading a slow document stops at the time limit', async () => {
  const operators = Buffer.from(`BT /F1 12 Tf ${'(a) Tj T* '.repeat(1_000_000)} ET`)
  const pdf = buildPdf(['one'], { operators })
  expect(await pdfWords(pdf, { ms: 1000 })).toMatchObject({ kind: 'unreadable', code: 'timeout' })
})
