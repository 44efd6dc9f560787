import { expect, test } from 'vitest'
import { writtenPdf } from '../../test/support/written-pdf.ts'
import { Redactor } from '../encoding/redaction.ts'
import { failed } from '../model/errors.ts'
import { holdsKey } from './holds-key.ts'
import { variantMaker, type VariantMaker } from './variant-maker.ts'

const KEY = 'sk-canary-1234'
const PDF = { media_type: 'application/pdf' }

function isIn(content: Parameters<typeof holdsKey>[0], bytes: Buffer, keys = [KEY]) {
  return holdsKey(content, bytes, { redactor: new Redactor(keys), variants: variantMaker })
}

test('a key is found in bytes of any type, and in text by its encoding', async () => {
  expect(await isIn({ media_type: 'image/png' }, Buffer.from(`\x89PNG ${KEY}`))).toBe(true)
  const wide = Buffer.from(`a ${KEY}`, 'utf16le')
  expect(await isIn({ media_type: 'text/plain', charset: 'utf-16le' }, wide)).toBe(true)
  expect(await isIn({ media_type: 'text/plain' }, wide)).toBe(false)
  expect(await isIn({ media_type: 'text/plain', charset: 'no-such-charset' }, wide)).toBe(false)
})

test('a key is found on any page of a PDF, also over the end of a line', async () => {
  expect(await isIn(PDF, writtenPdf(['one', `the key is ${KEY}`]))).toBe(true)
  expect(await isIn(PDF, writtenPdf([`${KEY.slice(0, 6)}\n${KEY.slice(6)}`]))).toBe(true)
  expect(await isIn(PDF, writtenPdf(['nothing', 'of that kind']))).toBe(false)
})

test('without keys nothing is extracted, and what cannot be extracted holds none', async () => {
  let extracted = 0
  const variants: VariantMaker = {
    ...variantMaker,
    pdfText: async () => {
      extracted += 1
      return failed('timeout', 'It took too long.')
    },
  }
  const bytes = writtenPdf(['text'])
  expect(await holdsKey(PDF, bytes, { redactor: new Redactor([]), variants })).toBe(false)
  expect(extracted).toBe(0)
  expect(await holdsKey(PDF, bytes, { redactor: new Redactor([KEY]), variants })).toBe(false)
  expect(extracted).toBe(1)
})
