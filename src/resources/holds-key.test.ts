import { expect, test } from 'vitest'
import { buildPdf } from '../../test/support/resources/build-pdf.ts'
import { Redactor } from '../encoding/redaction.ts'
import { LIMITS } from '../model/limits.ts'
import { holdsKey } from './holds-key.ts'

const KEY = 'sk-canary-1234'
const PDF = { media_type: 'application/pdf' }

function isIn(content: Parameters<typeof holdsKey>[0], bytes: Buffer, keys = [KEY]) {
  return holdsKey(content, bytes, new Redactor(keys))
}

test('a key is found in bytes of any type, and in text by its charset', async () => {
  expect(await isIn({ media_type: 'image/png' }, Buffer.from(`\x89PNG ${KEY}`))).toBe(true)
  const wide = Buffer.from(`a ${KEY}`, 'utf16le')
  expect(await isIn({ media_type: 'text/plain', charset: 'utf-16le' }, wide)).toBe(true)
  expect(await isIn({ media_type: 'text/plain' }, wide)).toBe(false)
  expect(await isIn({ media_type: 'text/plain', charset: 'no-such-charset' }, wide)).toBe(false)
})

test('a key is found on any page of a PDF, even across a line break', async () => {
  expect(await isIn(PDF, buildPdf(['one', `the key is ${KEY}`]))).toBe(true)
  expect(await isIn(PDF, buildPdf([`${KEY.slice(0, 6)}\n${KEY.slice(6)}`]))).toBe(true)
  expect(await isIn(PDF, buildPdf(['nothing', 'of that kind']))).toBe(false)
})

test('a key is found after more text than is ever shown', async () => {
  const page = Array.from({ length: 10 }, () => 'w'.repeat(10_000)).join('\n')
  const text = [page, page, page, `x ${KEY}`]
  expect(text.join('').length).toBeGreaterThan(LIMITS.pdf_text_bytes)
  expect(await isIn(PDF, buildPdf(text))).toBe(true)
})

test('nothing is found without keys or in an invalid PDF', async () => {
  expect(await isIn(PDF, buildPdf([`the key is ${KEY}`]), [])).toBe(false)
  expect(await isIn(PDF, Buffer.from('%PDF-1.4 broken'))).toBe(false)
})
