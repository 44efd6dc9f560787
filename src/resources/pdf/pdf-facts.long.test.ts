import { expect, test } from 'vitest'
import { buildPdf } from '../../../test/support/resources/build-pdf.ts'
import { pdfWords } from './pdf-facts.ts'

test('a small document that expands to a large one is rejected', async () => {
  const limits = { memory: 160 * 1024 * 1024, ms: 60_000 }
  const large = buildPdf(['one'], { operators: Buffer.alloc(300_000_000, ' ') })
  expect(large.length).toBeLessThan(500_000)
  expect(await pdfWords(large, limits)).toMatchObject({ kind: 'unreadable', code: 'too_large' })
  expect(await pdfWords(buildPdf(['one']), limits)).toMatchObject({ kind: 'pdf' })
})
