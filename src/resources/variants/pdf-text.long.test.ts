import { expect, test } from 'vitest'
import { buildPdf } from '../../../test/support/resources/build-pdf.ts'
import { pdfText } from './pdf-text.ts'

test('a small document that expands to a large one is rejected', async () => {
  const large = buildPdf(['one'], { operators: Buffer.alloc(220_000_000, ' ') })
  const bounds = { memory: 160 * 1024 * 1024, ms: 60_000 }
  expect(await pdfText(large, undefined, bounds)).toMatchObject({
    error: { kind: 'unreadable', details: { code: 'too_large' } },
  })
  expect(await pdfText(large, { from: 1, to: 1 }, bounds)).toMatchObject({ ok: true })
})
