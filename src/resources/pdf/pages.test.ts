import { expect, test } from 'vitest'
import { virtualClock } from '../../../test/support/host/virtual-clock.ts'
import { buildPdf } from '../../../test/support/resources/build-pdf.ts'
import { pdfPages } from './pages.ts'

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
])('%s is reported for a document that %s', async (code, _, pdf) => {
  expect(await pdfPages(pdf, { clock })).toMatchObject({ kind: 'unreadable', code })
})

test('an aborted document is not opened', async () => {
  const signal = AbortSignal.abort()
  expect(await pdfPages(buildPdf(['one']), { clock, signal })).toMatchObject({ code: 'timeout' })
  expect(clock.pending()).toEqual([])
})
